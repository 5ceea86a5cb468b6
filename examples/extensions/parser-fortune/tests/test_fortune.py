from pathlib import Path

from ragassay_fortune import parse

from ragassay.contracts.parser import check_parser


def test_it_keeps_the_contract(tmp_path: Path) -> None:
    example = tmp_path / "wisdom"
    example.write_text("First.\nStill first.\n%\nSecond, zażółć.\n%\nThird.\n", "utf-8")
    check_parser(parse, [example])
    assert [one["text"] for one in parse(example)] == ["First.\nStill first.", "Second, zażółć.", "Third."]
