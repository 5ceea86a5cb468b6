from ragassay_paragraphs import split

from ragassay.contracts.chunker import check_chunker


def test_it_keeps_the_contract() -> None:
    check_chunker(split, ["One.\nStill one.\n\nTwo.\n \nThree."])


def test_it_cuts_at_blank_lines() -> None:
    text = "One.\nStill one.\n\nTwo.\n \nThree."
    assert [text[start:end] for start, end in split(text)] == ["One.\nStill one.", "Two.", "Three."]
    assert len(split(text, paragraphs=2)) == 2
