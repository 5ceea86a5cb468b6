"""The README's picture: the top of the demo's report in a real browser, light, 1200 px wide. Alters nothing there.

    python tools/take_picture.py [SCORECARD.html] [OUT.png]

Without a report the demo is run first. Needs Chromium (CHROMIUM=/path/to/it) and Playwright.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "docs" / "scorecard.png"
WIDTH, LOWEST, MOST_BYTES = 1200, 1500, 300_000
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def main() -> None:
    given = [Path(one) for one in sys.argv[1:]]
    out = given[1] if len(given) > 1 else OUT
    with tempfile.TemporaryDirectory() as folder:
        report = given[0] if given else make_report(Path(folder))
        size = take(report.resolve(), out)
    print(f"{out}: {size / 1000:.0f} kB")
    if size > MOST_BYTES:
        sys.exit(f"more than {MOST_BYTES / 1000:.0f} kB: too heavy for a README")


def make_report(folder: Path) -> Path:
    """The demo's report."""
    from ragassay.cli.demo import demo

    demo(out=folder)
    return folder / "scorecard.html"


def take(report: Path, out: Path) -> int:
    """The page from its top to the end of the first survival table; bytes written."""
    from playwright.sync_api import sync_playwright

    found = os.environ.get("CHROMIUM") or next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        sys.exit("no Chromium on this machine: install it or set CHROMIUM=/path/to/it")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": WIDTH, "height": LOWEST}, color_scheme="light")
        page.goto(report.as_uri())
        table = page.locator("#survival table").first.bounding_box()
        height = min(LOWEST, int(table["y"] + table["height"]) + 24) if table else LOWEST
        page.screenshot(path=out, clip={"x": 0, "y": 0, "width": WIDTH, "height": height})
        browser.close()
    return out.stat().st_size


if __name__ == "__main__":
    main()
