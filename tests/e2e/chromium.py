"""A real Chromium for tests, and pages that fail their test on a console message, a script error or a request."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.conftest import skip_or_fail

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run", "--disable-component-update",
    "--disable-sync",
)  # fmt: skip


@contextmanager
def running() -> Iterator[Any]:
    """The browser; skips the test where there is none. While Playwright runs, no other test can start an event loop."""
    found = os.environ.get("CHROMIUM", "") or next((one for name in NAMES if (one := shutil.which(name))), "")
    if not found:
        skip_or_fail("no Chromium on this machine: install it (apt-get install chromium) or set CHROMIUM=/path/to/it")
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with api.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=found, args=list(ARGUMENTS))
        yield browser
        browser.close()


@contextmanager
def quiet_page(browser: Any, address: str, folder: str = "", **settings: Any) -> Iterator[Any]:
    """A page on `address`; only that and what is below `folder` may be requested, and nothing may be said."""
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **settings})
    page = context.new_page()
    noise: list[str] = []
    page.on("console", lambda message: noise.append(f"console {message.type}: {message.text}"))
    page.on("pageerror", lambda error: noise.append(f"error: {error}"))
    page.on("dialog", lambda dialog: noise.append(f"dialog: {dialog.message}"))

    def asked(made: Any) -> None:
        if made.url.partition("#")[0] != address and not (folder and made.url.startswith(folder)):
            noise.append(f"request: {made.url}")

    page.on("request", asked)
    page.goto(address)
    yield page
    context.close()
    assert noise == []
