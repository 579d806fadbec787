"""The RAGAS metrics against values worked out by hand; a metric without a measurement is None."""

from collections.abc import Sequence
from typing import ClassVar

import pytest
from cases import cases
from langchain_core.embeddings import Embeddings
from scripted import Replies, Reply, register
from snapshots import compare

from planweave.models import CallRecord, achat_model
from planweave.nodes.support.rag_metrics import (
    RagJudge,
    answer_relevance,
    context_relevance,
    faithfulness,
)

BAD = "no JSON"
PAGE = (
    "Hydrogen cost USD 5.5/kg in 2023. Electrolysers are made in China. "
    "The sea is blue. Demand grows by 2.5% a year."
)
LONG = "Hydrogen is costly in 2023. It was cheaper before that. Ships may carry it."


async def judge(script: Replies, reply_tokens: int = 512) -> RagJudge:
    return RagJudge(await achat_model(register(script)), reply_tokens)


def states(*texts: str) -> Reply:
    return {"statements": list(texts)}


def verdicts(*supported: bool | None) -> Reply:
    """A verdict on each statement in order; None leaves it out."""
    return {
        "verdicts": [
            {"statement": n, "reason": f"Reason {n}.", "supported": value}
            for n, value in enumerate(supported, start=1)
            if value is not None
        ]
    }


TWICE = [{"statement": n, "reason": "", "supported": yes} for n, yes in ((1, 1), (1, 0), (7, 1))]


@cases(
    ([states("A.", "B.", "C.", "D.")], [verdicts(True, True, False, True)], 3 / 4),
    ([states("A.", "B.", "C.")], [verdicts(True, None, False)], 1 / 2),
    ([states("A.")], [{"verdicts": TWICE}], 1.0),
    ([BAD, BAD], [], None),
    ([states("A.")], [BAD, BAD], None),
    ([states("A.")], [verdicts(None)], None),
    ([states()], [], None),
    ids=[
        *("supported per statement", "a verdict is missing", "the first verdict counts"),
        *("unread answer", "unread verdicts", "no verdict", "nothing stated"),
    ],
)
async def test_faithfulness(
    state: Sequence[Reply], verify: Sequence[Reply], expected: float | None
) -> None:
    script, calls = Replies(state=state, verify=verify), list[CallRecord]()
    model = await achat_model(register(script))
    asked = RagJudge(model, on_call=calls.append)
    assert await faithfulness("A, B.", PAGE, asked, question="Q?") == expected
    assert [call.role for call in calls] == ["judge"] * len(script.prompts)


async def test_statements_go_together_as_far_as_a_reply_reaches() -> None:
    script = Replies(
        state=[states("A.", "B.", "C.")], verify=[verdicts(True, False), verdicts(True)]
    )
    assert await faithfulness("A.", PAGE, await judge(script, 100), question="Q?") == 2 / 3
    assert script.tasks == ["state", "verify", "verify"]


async def test_the_prompt_asks_for_a_verdict_each_and_a_statement_from_each_sentence() -> None:
    script = Replies(state=[states("A.", "B.")], verify=[verdicts(True, True)])
    await faithfulness("A is. B is. C is.", PAGE, await judge(script), question="Q?")
    assert '"minItems":3' in script.prompts[0].text
    assert '"maxItems":2,"minItems":2' in script.prompts[1].text


async def test_a_long_answer_is_split_into_passages() -> None:
    script = Replies(
        state=[states("A.", "B."), states("B.", " ", "C.")],
        verify=[verdicts(True), verdicts(True), verdicts(False)],
    )
    assert await faithfulness(LONG, PAGE, await judge(script, 30), question="Q?") == 2 / 3
    first, second, *_ = (prompt.messages[0].text for prompt in script.prompts)
    assert "costly in 2023.\nIt was" in first
    assert "Ships" not in first
    assert "Ships" in second


async def test_half_an_answer_is_no_measurement() -> None:
    script = Replies(state=[states("A."), BAD, BAD], verify=[])
    assert await faithfulness(LONG, PAGE, await judge(script, 30), question="Q?") is None


async def test_an_empty_text_needs_no_call() -> None:
    script = Replies(state=[states("A.")])
    asked = await judge(script)
    assert await faithfulness(" \n", PAGE, asked, question="Q?") is None
    assert await faithfulness("A.", " ", asked, question="Q?") == 0.0
    assert await answer_relevance("Q?", " ", asked, Plane()) is None
    assert await context_relevance("Q?", "\n", asked) is None
    assert script.tasks == ["state"]


class Plane(Embeddings):
    """Two dimensions by name."""

    PLACES: ClassVar = {"Q?": [2.0, 0], "same?": [1.0, 0], "other?": [0.0, 3], "near?": [3.0, 4]}

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.PLACES.get(text, [0.0, 0.0]) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


@cases(
    ([{"questions": ["same?", "other?", "near?", "fourth?"]}], 1.6 / 3),
    ([{"questions": ["unknown?"]}], 0.0),
    ([{"questions": [" "]}], None),
    ([BAD, BAD], None),
)
async def test_answer_relevance_is_the_mean_cosine(
    replies: Sequence[Reply], expected: float | None
) -> None:
    script = Replies(ask=replies)
    found = await answer_relevance("Q?", "An answer.", await judge(script), Plane())
    assert found == (expected if expected is None else pytest.approx(expected))
    assert "Q?" not in script.prompts[0].text


BOTH = "The sea is blue. Demand grows by 2.5% a year."
NAMED = ["hydrogen cost USD 5.5/kg in 2023", "Demand grows by 2.5%", "The moon is round."]


@cases(
    ([{"sentences": NAMED}], 512, 2 / 4),
    ([{"sentences": [BOTH, BOTH, "China"]}], 512, 2 / 4),
    ([{"sentences": ["The sea is blue."]}, {"sentences": [BOTH[17:]]}], 30, 2 / 4),
    ([{"sentences": []}], 512, 0.0),
    ([BAD, BAD], 512, None),
    ids=["copied and invented", "two as one, and a scrap", "long", "nothing relevant", "unread"],
)
async def test_context_relevance_counts_sentences_of_the_context(
    replies: Sequence[Reply], tokens: int, expected: float | None
) -> None:
    script = Replies(copy=replies)
    assert await context_relevance("Q?", PAGE, await judge(script, tokens)) == expected
    assert len(script.prompts) == len(replies)


async def test_the_whole_prompt_of_each_task() -> None:
    script = Replies(
        state=[states("Hydrogen is dear.", "The sea is blue.")],
        verify=[verdicts(True, True)],
        ask=[{"questions": ["same?"]}],
        copy=[{"sentences": []}],
    )
    asked = await judge(script)
    answer, question = "Hydrogen is dear. The sea is blue.", "What is known of hydrogen?"
    await faithfulness(answer, PAGE, asked, question=question)
    await answer_relevance(question, answer, asked, Plane())
    await context_relevance(question, PAGE, asked)
    compare("rag_metrics", {prompt.task: prompt.messages for prompt in script.prompts})
