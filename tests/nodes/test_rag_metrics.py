"""The RAGAS metrics against values worked out by hand; what is not measured is None."""

from collections.abc import Sequence
from typing import ClassVar

import pytest
from cases import cases
from langchain_core.embeddings import Embeddings
from scripted import Replies, Reply, register
from snapshots import compare

from planweave.models import achat_model
from planweave.nodes.support.rag_metrics import (
    ContextRelevance,
    RagJudge,
    answer_relevance,
    context_relevance,
    faithfulness,
    statements_of,
    verify,
)

BAD = "no JSON"
PAGE = (
    "Hydrogen cost USD 5.5/kg in 2023. Electrolysers are made in China. "
    "The sea is blue. Demand grows by 2.5% a year."
)


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


async def test_faithfulness_is_supported_per_statement() -> None:
    script = Replies(
        state=[states("A.", "B.", "C.", "D.")], verify=[verdicts(True, True, False, True)]
    )
    found = await faithfulness("A, B, C, D.", PAGE, await judge(script), question="Q?")
    assert found.value == 3 / 4
    assert found.statements[2] == ("C.", False, "Reason 3.")
    assert [call.role for call in found.calls] == ["judge", "judge"]
    assert found.usage["judge"]["calls"] == 2
    assert PAGE in script.prompts[1].messages[0].text
    assert "3. C." in script.prompts[1].text


async def test_statements_go_together_as_far_as_a_reply_reaches() -> None:
    script = Replies(
        state=[states("A.", "B.", "C.")], verify=[verdicts(True, False), verdicts(True)]
    )
    found = await faithfulness("A.", PAGE, await judge(script, 100), question="Q?")
    assert script.tasks == ["state", "verify", "verify"]
    assert [s.supported for s in found.statements] == [True, False, True]
    assert found.value == 2 / 3


async def test_a_verdict_is_wanted_for_each_and_a_statement_from_each_sentence() -> None:
    script = Replies(state=[states("A.", "B.")], verify=[verdicts(True, True)])
    await faithfulness("A is. B is. C is.", PAGE, await judge(script), question="Q?")
    assert '"minItems":3' in script.prompts[0].text
    assert '"maxItems":2,"minItems":2' in script.prompts[1].text


async def test_a_long_answer_is_taken_apart_in_passages() -> None:
    answer = "Hydrogen is costly in 2023. It was cheaper before that. Ships may carry it."
    script = Replies(state=[states("A.", "B."), states("B.", " ", "C.")])
    found = await statements_of(answer, await judge(script, 30), question="Q?")
    assert found.texts == ("A.", "B.", "C.")
    shown = [prompt.messages[0].text for prompt in script.prompts]
    assert "costly in 2023.\nIt was" in shown[0]
    assert "Ships" not in shown[0]
    assert "Ships" in shown[1]


async def test_a_statement_without_a_verdict_is_counted_and_left_out() -> None:
    script = Replies(state=[states("A.", "B.", "C.")], verify=[verdicts(True, None, False)])
    found = await faithfulness("A.", PAGE, await judge(script), question="Q?")
    assert found.value == 1 / 2
    assert [s.supported for s in found.statements] == [True, None, False]


async def test_the_first_of_two_verdicts_counts_and_one_on_nothing_does_not() -> None:
    said = {"statement": 1, "reason": "", "supported": True}
    replies = [said, said | {"supported": False}, said | {"statement": 7}]
    script = Replies(state=[states("A.")], verify=[{"verdicts": replies}])
    found = await faithfulness("A.", PAGE, await judge(script), question="Q?")
    assert [s.supported for s in found.statements] == [True]


@cases(
    ([BAD, BAD], [], 0),
    ([states("A.")], [BAD, BAD], 1),
    ([states("A.")], [verdicts(None)], 1),
    ([states()], [], 0),
    ids=["unread answer", "unread verdicts", "no verdict", "nothing stated"],
)
async def test_what_cannot_be_measured_is_none(
    state: Sequence[Reply], verify: Sequence[Reply], kept: int
) -> None:
    script = Replies(state=state, verify=verify)
    found = await faithfulness("A.", PAGE, await judge(script), question="Q?")
    assert found.value is None
    assert [s.supported for s in found.statements] == [None] * kept
    unread = BAD in (*state, *verify)
    assert [failure["kind"] for failure in found.failures] == ["malformed_reply"] * unread
    assert len(found.calls) == len(script.prompts)


async def test_half_an_answer_is_no_measurement() -> None:
    script = Replies(state=[states("A."), BAD, BAD], verify=[verdicts(True)])
    answer = "Hydrogen is costly in 2023. It was cheaper before that. Ships may carry it."
    found = await faithfulness(answer, PAGE, await judge(script, 30), question="Q?")
    assert found.value is None
    assert (found.unread, found.statements[0].supported) == (1, True)


async def test_nothing_is_asked_about_nothing() -> None:
    script = Replies(state=[states("A.")])
    asked = await judge(script)
    assert (await faithfulness(" \n", PAGE, asked, question="Q?")).value is None
    assert (await faithfulness("A.", " ", asked, question="Q?")).value == 0.0
    assert script.tasks == ["state"]


async def test_statements_can_be_checked_against_several_contexts() -> None:
    script = Replies(
        state=[states("A.", "B.")], verify=[verdicts(True, True), verdicts(False, True)]
    )
    asked = await judge(script)
    stated = await statements_of("A. B.", asked, question="Q?")
    assert [(await verify(stated, text, asked)).value for text in ("one", "two")] == [1.0, 0.5]


class Plane(Embeddings):
    """Two dimensions by name."""

    PLACES: ClassVar = {"Q?": [2.0, 0], "same?": [1.0, 0], "other?": [0.0, 3], "near?": [3.0, 4]}

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.PLACES.get(text, [0.0, 0.0]) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


async def test_answer_relevance_is_the_mean_cosine() -> None:
    script = Replies(ask=[{"questions": ["same?", "other?", "near?", "fourth?"]}])
    found = await answer_relevance("Q?", "An answer.", await judge(script), Plane())
    assert found.questions == ("same?", "other?", "near?")
    assert found.cosines == pytest.approx((1.0, 0.0, 0.6))
    assert found.value == pytest.approx(1.6 / 3)
    assert "Q?" not in script.prompts[0].text


@cases([BAD, BAD], [{"questions": [" "]}])
async def test_answer_relevance_without_a_question_is_none(replies: Sequence[Reply]) -> None:
    found = await answer_relevance("Q?", "A.", await judge(Replies(ask=replies)), Plane())
    assert found.value is None
    assert len(found.calls) == len(replies)


async def test_an_embedding_of_zeros_is_like_nothing() -> None:
    script = Replies(ask=[{"questions": ["unknown?"]}])
    found = await answer_relevance("Q?", "A.", await judge(script), Plane())
    assert found.value == 0.0
    assert (await answer_relevance("Q?", " ", await judge(Replies()), Plane())).value is None


async def relevance(*replies: Reply, context: str = PAGE, tokens: int = 512) -> ContextRelevance:
    return await context_relevance("Q?", context, await judge(Replies(copy=replies), tokens))


async def test_context_relevance_counts_only_sentences_of_the_context() -> None:
    copied = ["hydrogen cost USD 5.5/kg in 2023", "Demand grows by 2.5%", "The moon is round."]
    found = await relevance({"sentences": copied})
    assert found.value == 2 / 4
    assert found.relevant == ("Hydrogen cost USD 5.5/kg in 2023.", "Demand grows by 2.5% a year.")
    assert found.invented == ("The moon is round.",)


async def test_two_sentences_copied_as_one_are_two_and_a_scrap_is_none() -> None:
    both = "The sea is blue. Demand grows by 2.5% a year."
    assert (await relevance({"sentences": [both, both, "China"]})).value == 2 / 4


async def test_context_relevance_of_nothing_relevant_and_of_nothing() -> None:
    assert (await relevance({"sentences": []})).value == 0.0
    assert (await relevance(BAD, BAD)).value is None
    assert (await relevance(context="\n")).value is None


async def test_a_long_context_is_read_in_passages() -> None:
    first, last = ["The sea is blue."], ["Demand grows by 2.5% a year."]
    found = await relevance({"sentences": first}, {"sentences": last}, tokens=30)
    assert (found.value, len(found.calls)) == (2 / 4, 2)


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
