"""Chunks: how long they are, where they end, and what is never cut."""

import pytest
from cases import cases
from documents import WordTokens
from hypothesis import given
from hypothesis import strategies as st

from planweave.tools.documents.chunks import chunk

_tokens = WordTokens()


def cut(text: str, size: int, overlap: int = 0) -> list[str]:
    return chunk(text, size=size, overlap=overlap, spans=_tokens.spans)


@cases(
    pytest.param("  One sentence.\n", 10, 0, ["One sentence."], id="a short page"),
    pytest.param(" \n\t ", 10, 0, [], id="an empty page"),
    pytest.param("A b c. D e f. G h i. J.", 9, 0, ["A b c. D e f.", "G h i. J."], id="whole"),
    pytest.param("a b c\nd e f g", 5, 0, ["a b c", "d e f g"], id="a line of a long sentence"),
    pytest.param("a b c d e f g", 3, 0, ["a b c", "d e f", "g"], id="else a word"),
    pytest.param("A. b c d e f g h i j k", 8, 0, ["A. b c d e f g", "h i j k"], id="little"),
    pytest.param("a b c d e f g h", 4, 2, ["a b c d", "c d e f", "e f g h"], id="overlap"),
)
def test_where_a_page_is_cut(text: str, size: int, overlap: int, chunks: list[str]) -> None:
    assert cut(text, size, overlap) == chunks


def test_sentences_of_other_scripts_end_too() -> None:
    text = "一二三四五六。七八九十。"
    characters = [(place, place + 1) for place in range(len(text))]
    assert chunk(text, size=9, spans=lambda _: characters) == ["一二三四五六。", "七八九十。"]


def test_rows_of_a_table_are_never_cut() -> None:
    rows = [f"{year} | {year * 7} | a b c d e" for year in range(2000, 2020)]
    text = "Costs of it all by year.\n" + "\n".join(rows) + "\nAfter the table comes text."
    chunks = cut(text, 22)
    assert len(chunks) > 8
    assert [row for piece in chunks for row in piece.splitlines() if " | " in row] == rows


def test_a_row_longer_than_a_chunk_stays_whole() -> None:
    row = " | ".join(map(str, range(50)))
    assert cut(f"Before it.\n{row}\nAfter it.", 10, 4)[1] == row


def test_an_overlap_repeats_rows_whole() -> None:
    rows = [f"{number} | x y z" for number in range(6)]
    chunks = cut("\n".join(rows), 11, 3)
    assert all(line in rows for piece in chunks for line in piece.splitlines())
    assert [piece.splitlines()[0] for piece in chunks] == rows[: len(chunks)]


@given(
    st.lists(st.sampled_from(["word", "a | b | c", "end.", "\n", " ", "Ü", "。", "\n\n", ", "])),
    st.integers(2, 12),
    st.integers(0, 12),
)
def test_nothing_is_lost_chunks_are_of_the_page(parts: list[str], size: int, overlap: int) -> None:
    text = "".join(parts)
    chunks = cut(text, size, overlap)
    place = 0
    for piece in chunks:
        begin = text.find(piece, 0 if overlap else place)
        assert begin >= 0
        assert overlap or not _tokens.spans(text[place:begin])
        place = begin + len(piece)
        assert " | " in piece or len(_tokens.spans(piece)) <= size
    assert chunks or not _tokens.spans(text)
    if not overlap:
        assert not _tokens.spans(text[place:])
