"""FuRePA and IRCoT: every edge, what each role sees, and which query is carried out."""

from collections.abc import Sequence

import pytest
from cases import cases
from langchain_core.language_models import BaseChatModel
from pages import Shelf, put_up
from scripted import Replies, Reply, Run, answer_of, asking, tell

from planweave.learning import CandidateQuery, RetrievedPage
from planweave.models import achat_model

QUESTION = "Where was the director of the film Aurora born?"
FILM = "Aurora is a film that Lena Holm directed."
PERSON = "Lena Holm is a director who was born in Turku."
BAD = "I would rather talk about the weather."


class LongestQuery:
    """Stands in for the trained assessor: the longest query is best."""

    def __init__(self) -> None:
        self.asked: list[tuple[list[str], list[RetrievedPage]]] = []

    def scores(
        self, question: str, evidence: Sequence[str], candidates: Sequence[CandidateQuery]
    ) -> list[float]:
        self.asked.append(([*evidence], [hit for c in candidates for hit in c.hits]))
        return [float(len(candidate.query)) for candidate in candidates]


@pytest.fixture
def shelf(word_vectors: None, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    return put_up(
        monkeypatch, ("Aurora", 1, FILM), ("Lena Holm", 1, PERSON), ("Ships", 1, "Ships sail.")
    )


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> LongestQuery:
    made = LongestQuery()
    monkeypatch.setattr("planweave.nodes.hops.assessor.plan_assessor", lambda: made)
    return made


@pytest.fixture
def ask(shelf: Shelf, trained: LongestQuery) -> Run:
    return asking(QUESTION, collection="films", pages=1)


def propose(*queries: str, reasoning: str = "The director is not known.") -> Reply:
    return {"reasoning": reasoning, "answer": None, "queries": list(queries)}


def solved(answer: str = "Turku") -> Reply:
    reasoning = "Lena Holm directed Aurora [1]. She was born in Turku [2]."
    return {"reasoning": reasoning, "answer": answer, "queries": []}


FIRST = propose("film", "director of Aurora")
SECOND = propose("born", "birthplace of Lena Holm", reasoning="Lena Holm directed it [1].")


async def test_furepa_reasons_retrieves_and_answers(
    ask: Run, trained: LongestQuery, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_up(monkeypatch, ("Aurora", 1, f"Aurora: {FILM}"), ("Lena Holm", 1, PERSON))
    script = Replies(reason=[FIRST, SECOND, solved()])
    memory = await ask("furepa", script)
    assert script.tasks == ["reason"] * 3
    queries = [turn["input"] for turn in memory["turns"]]
    assert queries == ["director of Aurora", "birthplace of Lena Holm"]
    assert [fact["text"] for fact in memory["facts"]] == [f"Aurora: {FILM}", PERSON]
    assert (answer_of(memory)["decision"], answer_of(memory)["facts"]) == ("Turku", [1, 2])
    assert all(claim["supported"] for claim in memory["claims"])
    assert trained.asked[1][0] == [f"Aurora: {FILM}"]  # the title is seen once
    assert RetrievedPage("Aurora", FILM) in trained.asked[0][1]
    assert len(memory["query_scores"]) == 2


@cases(
    ({"masking": True}, False, False),
    ({"masking": False}, True, True),
    ({"unmasked": 1}, False, True),
    ({"unmasked": 2}, True, True),
    ({"unmasked": 3}, True, True),
)
async def test_masking_hides_reasoning_and_queries_but_for_the_latest_rounds(
    settings: dict[str, object], first: bool, second: bool, ask: Run
) -> None:
    script = Replies(reason=[FIRST, SECOND, solved()])
    await ask("furepa", script, **settings)
    last = script.prompts[-1].text
    assert FILM in last
    assert ("director of Aurora" in last) == ("The director is not known." in last) == first
    assert ("birthplace of Lena Holm" in last) == second


async def test_irrelevant_pages_are_added_to_those_of_a_search(ask: Run) -> None:
    script = Replies(reason=[FIRST, SECOND, solved()])
    memory = await ask("furepa", script, irrelevant_pages=1)
    texts = [fact["text"] for fact in memory["facts"]]
    assert len(texts) == len({*texts}) == 3
    assert "Ships sail." in texts


@cases(
    ("first", {"film"}),
    ("trained", {"director of Aurora"}),
    ("random", {"film", "director of Aurora"}),
)
async def test_the_assessor_is_a_setting_whose_choice_can_be_repeated(
    choice: str, wanted: set[str], ask: Run
) -> None:
    chosen = []
    for seed in (0, 1, 2, 3, 0, 1, 2, 3):
        script = Replies(reason=[FIRST, solved()])
        memory = await ask("furepa", script, assessor=choice, seed=seed)
        chosen.append(memory["turns"][0]["input"])
    assert {*chosen} == wanted
    assert chosen[:4] == chosen[4:]


@cases(
    ({}, 0.2, 1.0),
    ({"temperature_raise": False}, 0.2, 0.2),
    ({"first_temperature": 0.4, "temperature_step": 0.5}, 0.4, 0.9),
)
async def test_repeated_queries_raise_the_temperature(
    settings: dict[str, object], cold: float, warm: float, ask: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float] = []

    async def chat(name: str, **settings: float) -> BaseChatModel:
        asked.append(settings["temperature"])
        return await achat_model(name, **settings)  # type: ignore[arg-type]  # the node's own

    monkeypatch.setattr("planweave.nodes.support.role.achat_model", chat)
    script = Replies(reason=[FIRST, propose("of Aurora director"), SECOND, solved()])
    memory = await ask("furepa", script, **settings)
    assert memory["raises"] == settings.get("temperature_raise", True)
    assert asked == [cold, cold, warm, warm]
    assert "already carried out" in memory["turns"][1]["problem"]
    assert len(memory["facts"]) == 2


@cases((0.9, 2), (0.3, 1))
async def test_how_alike_queries_are_one_is_a_setting(same: float, kept: int, ask: Run) -> None:
    proposed = propose("director of the film Aurora", "who is director of Aurora")
    memory = await ask("furepa", Replies(reason=[proposed, solved()]), same_query=same)
    assert len(memory["query_scores"]) == kept


async def test_a_page_is_taken_up_once(ask: Run, shelf: Shelf) -> None:
    script = Replies(reason=[propose("Holm"), propose("Lena"), solved()])
    memory = await ask("furepa", script)
    assert [fact["text"] for fact in memory["facts"]] == [FILM, PERSON]


async def test_without_evidence_no_answer_is_taken(ask: Run) -> None:
    script = Replies(reason=[{**dict(solved()), "queries": ["film"]}, SECOND, solved()])  # type: ignore[arg-type]  # a reply of fields
    memory = await ask("furepa", script)
    assert answer_of(memory)["facts"] == [1, 2]


async def test_a_reasoner_that_proposes_nothing_searches_for_the_question(ask: Run) -> None:
    script = Replies(reason=[propose(), SECOND, solved()])
    memory = await ask("furepa", script)
    assert [turn["input"] for turn in memory["turns"]] == [QUESTION, "birthplace of Lena Holm"]
    assert memory["raises"] == 0


def think(thought: str, answer: str | None = None) -> Reply:
    return {"thought": thought, "answer": answer}


async def test_ircot_searches_for_question_then_for_each_thought(ask: Run, shelf: Shelf) -> None:
    thoughts = [think("Lena Holm directed it."), think("She was born in Turku.", "Turku")]
    script = Replies(think=thoughts)
    memory = await ask("ircot", script)
    assert shelf.queries == [QUESTION, "Lena Holm directed it."]
    assert answer_of(memory)["decision"] == "Turku"
    assert "Lena Holm directed it." in script.prompts[1].text


@cases(think(""), BAD)
async def test_a_chain_that_ends_is_answered_from_the_evidence(last: Reply, ask: Run) -> None:
    final = tell("Lena Holm directed Aurora [1].", "Lena Holm")
    script = Replies(think=[last, last], answer=[final])
    memory = await ask("ircot", script)
    assert answer_of(memory)["decision"] == "Lena Holm"
