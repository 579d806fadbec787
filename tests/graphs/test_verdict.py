"""Which decisions are taken, the result of their check on every edge, and its text in the chat."""

import re
from pathlib import Path

from cases import cases
from scripted import Replies, Reply, Run, act, answer_of, decide

from planweave.memory import NO_DECISION
from planweave.nodes.deciding.answering_machine import match_candidate

ALL = "SELECT name, cost FROM plant"
CHEAPEST = "Which plant is cheapest?"


def replies(*decisions: Reply, query: str = ALL) -> Replies:
    return Replies(action=[act("sql", query)], decide=list(decisions))


async def test_the_model_is_asked_once_more_where_a_rule_gives_another(run: Run) -> None:
    script = replies(decide("Aachen", 1), decide("Bonn", 1))
    answer = answer_of(await run("single_rag", script))
    assert script.tasks == ["action", "decide", "decide"]
    assert "it is Bonn" in script.prompts[2].text
    assert (answer["decision"], answer["verdict"]["kind"]) == ("Bonn", "supported")


DIFFER = 'the model says "Aachen"; the rule gives "Bonn"'


@cases(
    (["Aachen", "Aachen"], {}, None, "undecided", DIFFER),
    (["Aachen"], {"max_calls": 1}, None, "undecided", DIFFER),
    (["Dresden", "Aachen"], {"candidates": ("Aachen", "Bonn")}, None, "undecided", DIFFER),
    (["Aachen"], {"ask_again": False}, "Aachen", "contradicted", "The facts say otherwise"),
    (["Aachen"], {"candidates": ("Aachen", "Cottbus")}, "Aachen", "not_in_facts", "⚠"),
    ids=["still", "a spent budget", "asked twice at most", "not asked again", "Bonn not admitted"],
)
async def test_where_they_differ_both_are_reported(
    decisions: list[str],
    settings: dict[str, object],
    decision: str | None,
    kind: str,
    said: str,
    run: Run,
) -> None:
    script = replies(*(decide(one, 1) for one in decisions))
    memory = await run("single_rag", script, **settings)
    answer = answer_of(memory)
    assert (answer["decision"], answer["verdict"]["kind"]) == (decision, kind)
    assert answer["verdict"].get("gives") == ("Bonn" if decision is None else None)
    assert said in memory["messages"][-1].text
    assert script.left["decide"] == []


async def test_an_unreadable_second_answer_leaves_the_first_in_doubt(run: Run) -> None:
    memory = await run("single_rag", replies(decide("Aachen", 1), "No.", "No."))
    assert answer_of(memory)["verdict"]["said"] == "Aachen"
    assert memory["failures"][0]["kind"] == "malformed_reply"


@cases(
    ("SELECT name, cost FROM plant WHERE name = 'Aachen'", CHEAPEST),
    ("SELECT name, cost FROM plant LIMIT 1", CHEAPEST),
    (ALL, "Which plant do you like?"),
)
async def test_what_is_not_singled_out_is_no_fact(query: str, question: str, run: Run) -> None:
    memory = await run(
        "single_rag", replies(decide("Aachen", 1), query=query), {"question": question}
    )
    answer = answer_of(memory)
    assert (answer["decision"], answer["verdict"]["kind"]) == ("Aachen", "not_in_facts")
    assert f"⚠ {answer['verdict']['text']}" in memory["messages"][-1].text


async def test_a_strict_run_withholds_it(run: Run) -> None:
    query = "SELECT name, cost FROM plant LIMIT 1"
    memory = await run("single_rag", replies(decide("Aachen", 1), query=query), strict=True)
    answer = answer_of(memory)
    assert (answer["decision"], answer["verdict"]["kind"]) == (None, "undecided")
    assert answer["verdict"]["said"] == "Aachen"
    assert "gives" not in answer["verdict"]


async def test_no_decision_is_undecided(run: Run) -> None:
    memory = await run("single_rag", replies(decide(None, 1, unknown="The taxes.")))
    verdict = answer_of(memory)["verdict"]
    assert verdict == {"kind": "undecided", "text": "Undecided: the taxes."}


async def test_a_rule_by_another_name_is_no_reason_to_ask_again(run: Run) -> None:
    odd = {"why": "", "facts": [1], "decision": "Bonn", "how": "cheapest!", "unknown": ""}
    script = replies(odd)
    answer = answer_of(await run("single_rag", script))
    assert answer["basis"]["how"] == "stated"
    assert script.tasks == ["action", "decide"]


@cases(
    ("Bonn has the lowest cost with 7.25.", True),
    ("Aachen costs 7.25.", False),
)
async def test_reasons_are_checked_against_the_rows(why: str, supported: bool, run: Run) -> None:
    told = {"why": why, "facts": [1], "decision": "Bonn", "unknown": ""}
    memory = await run("single_rag", replies(told))
    assert [claim["supported"] for claim in memory["claims"]] == [supported]
    assert ("(no source)" in answer_of(memory)["why"]) is not supported


@cases(
    ("bonn", ["Aachen", "Bonn"], "Bonn"),
    ("Open a plant in New York.", ["New York", "York"], "New York"),
    ("New York, not York", ["New York", "York"], "New York"),
    ("Sao Paulo", ["São Paulo", "Rio"], "São Paulo"),
    ("No, it does not.", ["yes", "no"], "no"),
    ("No", ["yes", "no"], "no"),
    ("Build the not-for-profit shop", ["not-for-profit shop"], "not-for-profit shop"),
    ("x-1", ["x-1", "X 1"], "x-1"),
    ("42", ["41", "42"], "42"),
    ("None", ["Aachen", "Bonn"], NO_DECISION),
    ("none", ["None", "Bonn"], "None"),
    ("Berlin", ["Aachen", "Bonn"], None),
    ("Not Bonn", ["Aachen", "Bonn"], None),
    ("Aachen or Bonn", ["Aachen", "Bonn"], None),
    ("1,200", ["1", "2"], None),
)
def test_what_is_admitted_is_taken(said: str, candidates: list[str], wanted: str | None) -> None:
    assert match_candidate(said, candidates) == wanted


async def test_a_long_decision_is_admitted(run: Run) -> None:
    long = "Open a second plant in Bonn " * 20
    script = replies(decide(long.strip(), 1))
    memory = await run("single_rag", script, candidates=(long.strip(), "nothing"))
    assert answer_of(memory)["decision"] == long.strip()


async def test_the_second_prompt_counts_the_admitted_decisions(run: Run) -> None:
    names = [f"plant {number}" for number in range(40)]
    script = replies(decide("shop 7", 1), decide("plant 7", 1))
    await run("single_rag", script, candidates=names)
    assert re.search("plant 7.*and 30 more", script.prompts[-1].messages[-1].text)


async def test_that_nothing_improves_is_an_answer(run: Run) -> None:
    none = {"why": "Bonn costs 7.25, the least.", "facts": [1], "decision": "none", "unknown": ""}
    script = replies(none)
    memory = await run("single_rag", script, candidates=("Aachen", "Bonn"))
    answer = answer_of(memory)
    assert answer["decision"] == "none"
    assert answer["verdict"]["kind"] != "undecided"
    assert memory["failures"] == []
    assert len(script.prompts) == 2


async def test_a_tie_is_reported_with_its_rule(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "equal.sql"
    names = ("Aachen", "Bonn", "Cottbus")
    rows = "".join(f"INSERT INTO plant VALUES ('{name}', 7.25);" for name in names)
    path.write_text(f"CREATE TABLE plant(name TEXT, cost REAL); {rows}")
    script = replies(decide("Bonn", 1))
    memory = await run("single_rag", script, database=str(path))
    said = answer_of(memory)["verdict"]["text"]
    assert "lowest cost of fact [1]; 3 are equal: Aachen, Bonn, Cottbus" in said
