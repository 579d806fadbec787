"""The result of the check of an answer, on every edge, and its text in the chat."""

from cases import cases
from scripted import Replies, Reply, Run, act, answer_of, decide

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
    ("Dresden has the lowest cost with 7.25.", False),
    ("Aachen costs 7.25.", False),
    ("Bonn has the lowest cost with 7.25 USD.", False),
    ("Bonn does not have the lowest cost.", False),
)
async def test_reasons_are_checked_against_the_rows(why: str, supported: bool, run: Run) -> None:
    told = {"why": why, "facts": [1], "decision": "Bonn", "unknown": ""}
    memory = await run("single_rag", replies(told))
    assert [claim["supported"] for claim in memory["claims"]] == [supported]
    assert ("(no source)" in answer_of(memory)["why"]) is not supported
