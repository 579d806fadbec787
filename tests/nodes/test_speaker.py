"""What a stream says after the text of an answer that it has sent already."""

import pytest

from planweave.memory import Answer
from planweave.nodes.shared.speaker import said_after

DRAFT = "Ash costs 7,135.5 dollars. Birch costs 5 [1]."


@pytest.mark.parametrize(
    ("why", "rest"),
    [
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
    ],
)
def test_only_what_the_check_has_changed_is_said_again(why: str, rest: str) -> None:
    answer = Answer(why=why, facts=[1], decision="Birch", unknown="")
    assert said_after(DRAFT, answer, []) == rest
