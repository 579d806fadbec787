"""What the chat shows of an answer, and a stream after what it has sent already."""

from typing import Any

from cases import cases

from planweave.memory import Answer, Basis
from planweave.nodes.shared.speaker import complete_streamed, speaker

DRAFT = "Ash costs 7,135.5 dollars. Birch costs 5 [1]."


@cases(
    (DRAFT, "\n\n**Birch**"),
    (f"{DRAFT} Yes.", " Yes.\n\n**Birch**"),
    (
        "Ash costs 7,135.5 dollars. (no source) Birch costs 5 [1].",
        "\n\nAfter the check:\n\nNo source for: Ash costs 7,135.5 dollars.\n\n**Birch**",
    ),
    (
        "Ash costs 7,135.5 dollars [2]. Birch costs 5. (no source)",
        "\n\nAfter the check:\n\nNo source for: Birch costs 5.\n\n**Birch**",
    ),
    ("Birch costs 5 [1].", "\n\nAfter the check:\n\n**Birch**\n\nBirch costs 5 [1]."),
)
def test_only_what_the_check_has_changed_is_repeated(why: str, rest: str) -> None:
    answer = Answer(why=why, facts=[1], decision="Birch", unknown="")
    assert complete_streamed(DRAFT, answer, []) == rest


@cases(
    ([["East", 640.25], ["We|st", 3]], "| r | n |\n| --- | --- |\n| East | 640.25 |"),
    ([["East", 640.25]], "**East, 640.25** [1]"),
)
def test_rows_that_are_the_answer_are_a_table(rows: list[list[Any]], said: str) -> None:
    fact: Any = {"number": 1, "quote": None, "table": {"columns": ["r", "n"], "rows": rows}}
    basis = Basis(how="rows", column="")
    answer = Answer(why="", facts=[1], decision="East, 640.25", unknown="", basis=basis)
    state: Any = {"answer": answer, "facts": [fact]}
    text = speaker(state)["messages"][0].text
    assert text.replace("\n\n", " ").startswith(said)
    assert len(rows) == 1 or "We\\|st" in text
