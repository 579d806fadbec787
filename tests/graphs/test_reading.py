"""Reading: the parts of a finding, the length of its quote, and whole collections."""

from typing import Any

import pytest
import scripted
from cases import cases
from pages import Shelf, put_up
from scripted import PAPER, Replies, Thread, act, answer_of, found, keep, plan, register, tell

from planweave import BadInput
from planweave.graphs import METHODS, of_family
from planweave.memory import Context, Fact, WorkingMemory
from planweave.models.lengths import fitted
from planweave.nodes.documents.reader import ShortReading

HEADING = "##### Over 53 lbs to 70 lbs"
HEADER = "| Regions | Basic Economy | Business |"
RULE = "|---|---|---|"
CUBA = "| To / From Cuba | $200 | $150 |"
OTHERS = "| All other regions | $100 | $90 |"
TABLE = "\n".join([HEADER, RULE, OTHERS, CUBA])
PAGE = f"# Bag fees\nFees are per bag.\n\n{HEADING}\n\n{TABLE}\n\nTaxes are not shown."
ANSWER = tell("To Cuba it costs $200 [1].", "$200")
QUESTION = "What does an overweight bag to Cuba cost?"
WHOLE = [
    name
    for name in METHODS
    if "whole_reader" in METHODS.get(name).builder.parts["opening"].get_graph().nodes
]


@pytest.fixture
def shelf(monkeypatch: pytest.MonkeyPatch) -> Shelf:
    return put_up(
        monkeypatch, ("rules.md", 5, PAGE), ("rules.md", 6, "Liquids (LQ) are not carried.")
    )


async def ask(name: str, script: Replies, **context: Any) -> WorkingMemory:
    return await scripted.ask(name, script, QUESTION, collection="rules", **context)


def reading(*findings: dict[str, object]) -> Replies:
    return Replies(
        action=[act("documents", "Cuba"), act("finish")],
        read=[{"findings": list(findings)}],
        answer=[ANSWER],
    )


async def facts_of(*findings: dict[str, object], **context: Any) -> list[Fact]:
    memory = await ask("react", reading(*findings), whole_collection="off", **context)
    return memory["facts"]


def quote_of(fact: Fact) -> str:
    assert fact["quote"] is not None
    return fact["quote"]["text"]


async def test_a_finding_gives_the_calculator_every_value_of_a_row(shelf: Shelf) -> None:
    values = {"Basic Economy": "$200", "Business": "$150"}
    script = reading(found(CUBA, "To Cuba, basic costs $200, business $150.", values))
    script.left["action"].insert(1, act("calculator", "f1_basic_economy + 2 * f1_business"))
    memory = await ask("react", script, whole_collection="off")
    fact, worked = memory["facts"]
    assert fact["values"] == {"basic_economy": "200 $", "business": "150 $"}
    assert worked["text"].endswith("= 500 USD")
    assert "(f1_basic_economy = 200 $, f1_business = 150 $)" in script.prompts[-1].text


async def test_a_quoted_row_has_its_heading_and_its_column_names(shelf: Shelf) -> None:
    said = "From over 53 to 70 lbs, basic economy costs $200 to Cuba."
    (fact,) = await facts_of(found("To / From Cuba", said))
    heading = f"# Bag fees\n… {HEADING}\n{HEADER}\n{RULE}"
    assert (fact["text"], quote_of(fact)) == (said, f"{heading}\n… {CUBA}")


async def test_a_statement_may_use_the_heading_over_a_sentence(shelf: Shelf) -> None:
    shelf.pages[0] = shelf.pages[0]._replace(text="## From 2024 on\nText.\n\nCuba costs $200 more.")
    said = "From 2024 on, Cuba costs $200 more."
    (fact,) = await facts_of(found("Cuba costs $200 more", said))
    assert fact["text"] == said
    assert quote_of(fact) == "## From 2024 on\n… Cuba costs $200 more"


async def test_of_equal_rows_the_one_under_the_heading_meant_is_quoted(shelf: Shelf) -> None:
    other = TABLE.replace(CUBA, f"{CUBA}\n\nText.\n\n##### Oversize\n\n{TABLE}")
    shelf.pages[0] = shelf.pages[0]._replace(text=f"# Bag fees\n\n{HEADING}\n\n{other}")
    weight = found(CUBA, "An overweight bag over 53 lbs costs $200 to Cuba.")
    size = found(CUBA, "An oversize bag costs $200 to Cuba.")
    quotes = [quote_of(fact) for fact in await facts_of(weight, size)]
    assert HEADING in quotes[0]
    assert "Oversize" not in quotes[0]
    assert "##### Oversize" in quotes[1]
    assert HEADING not in quotes[1]


async def test_the_paragraph_is_quoted_where_the_sentence_is_too_little(shelf: Shelf) -> None:
    text = "Fees rose.\n\nThe tariff is of 2024. Bags to Cuba cost $200 each.\n\nThat is all."
    shelf.pages[0] = shelf.pages[0]._replace(text=text)
    said = "By the tariff of 2024 a bag to Cuba costs $200."
    (fact,) = await facts_of(found("Bags to Cuba cost $200 each", said))
    assert fact["text"] == said
    assert quote_of(fact) == "The tariff is of 2024. Bags to Cuba cost $200 each."


async def test_a_number_without_a_source_drops_the_finding_with_a_reason(shelf: Shelf) -> None:
    script = reading(found(CUBA, "To Cuba it costs $777."))
    memory = await ask("react", script, whole_collection="off")
    assert memory["facts"] == []
    problem = memory["turns"][0]["problem"]
    assert "777 is not in the quoted words" in problem
    assert "To Cuba it costs $777." in problem
    assert [failure["kind"] for failure in memory["failures"]] == ["number_not_quoted"]


async def test_a_value_that_is_not_quoted_is_left_out(shelf: Shelf) -> None:
    values = {"basic": "$200", "first": "$777"}
    memory = await ask("react", reading(found(CUBA, "It is $200.", values)), whole_collection="off")
    (fact,) = memory["facts"]
    assert fact["values"] == {"basic": "200 $"}
    assert [failure["detail"] for failure in memory["failures"]] == ["first: $777"]


@cases(
    ("70 lbs / 32 kgs", {"v": "70 lbs"}),
    ("70 lbs (32 kgs)", {"v": "70 lbs"}),
    ("53 to 70 lbs", {"v_from": "53 lbs", "v_to": "70 lbs"}),
    ("$1,200.50", {"v": "1200.50 $"}),
    ("(1,200.50)", {"v": -1200.5}),
    ("(-1,200.50)", {"v": -1200.5}),
    ("5.5 %", {"v": "5.5 %"}),
    ("USD 32/kg", {"v": "32 USD/kg"}),
    ("not accepted", {}),
    ("53 x 70 x 32 lbs", {}),
)
async def test_values_with_units(value: str, kept: dict[str, object], shelf: Shelf) -> None:
    text = "It is 53 to 70 lbs / 32 kgs, $1,200.50, (1,200.50), 5.5 % or USD 32/kg, Cuba."
    shelf.pages[0] = shelf.pages[0]._replace(text=text)
    (fact,) = await facts_of(found(text[:-1], "It is for Cuba.", {"v": value}))
    assert fact["values"] == kept


async def test_ten_findings_of_a_page_are_kept(shelf: Shelf) -> None:
    text = "\n\n".join(f"Rule {number} for Cuba is kept." for number in range(12))
    shelf.pages[0] = shelf.pages[0]._replace(text=text)
    findings = [found(f"Rule {n} for Cuba is kept.", f"Rule {n} is kept.") for n in range(12)]
    assert len(await facts_of(*findings)) == 10


async def test_a_page_cut_inside_a_table_keeps_the_column_names(shelf: Shelf) -> None:
    rows = "\n".join(f"| Region {number} | ${number} | $1 |" for number in range(100))
    text = f"{HEADING}\n\n{HEADER}\n{RULE}\n{rows}\n{CUBA}"
    page = shelf.pages[0]._replace(text=text, chunk=CUBA)
    shelf.pages[0] = page
    script = reading(found(CUBA, "It costs $200."))
    await ask("react", script, whole_collection="off", page_characters=300)
    (shown,) = (prompt.text for prompt in script.prompts if prompt.task == "read")
    assert "Region 3 " not in shown
    assert HEADING in shown
    assert HEADER in shown


def read_whole(name: str) -> Replies:
    """The whole collection is read, and the answer given at once."""
    finish = act("finish")
    thoughts = {"text": "", "reasoning": "", "plan": [], "criticism": "", "speak": ""}
    return Replies(
        read=[{"findings": [found(CUBA, "To Cuba it costs $200.", {"fee": "$200"})]}],
        plan=[plan("Answer.")],
        action=[finish],
        judge=[keep()],
        command=[{"thoughts": thoughts, "command": {"name": "finish", "input": ""}}],
        verdict=[{"reason": "", "verdict": "TERMINATE"}],
        answer=[ANSWER],
    )


@pytest.mark.parametrize("name", WHOLE)
async def test_a_collection_that_fits_is_read_whole_once(name: str, shelf: Shelf) -> None:
    script = read_whole(name)
    memory = await ask(name, script)
    assert shelf.queries == []
    assert script.tasks[0] == "read"
    assert script.tasks.count("read") == 1
    if name in ("agent_v1", "single_rag"):  # they search once
        assert script.tasks == ["read", "answer"]
    shown = script.prompts[0].text
    assert PAGE in shown
    assert "Liquids (LQ) are not carried." in shown
    (fact,) = memory["facts"]
    assert quote_of(fact).endswith(CUBA)
    assert answer_of(memory)["decision"] == "$200"
    assert memory["pages"] == []
    assert memory["replans"] == []
    assert sum(used["calls"] for used in memory["usage"].values()) == len(script.prompts)


def test_every_method_with_document_tools_may_read_whole() -> None:
    assert {*of_family("decide"), "agent_v1", "agent_v2", "agent_v3", "react", "autogpt"} == {
        *WHOLE
    }


@pytest.mark.parametrize("name", WHOLE)
@cases({"whole_collection": "off"}, {"assist": "on"}, {"whole_characters": 1_000})
async def test_else_it_is_searched(context: dict[str, Any], name: str, shelf: Shelf) -> None:
    shelf.pages.append(shelf.pages[1]._replace(page=7, text="word " * 300))
    graph = METHODS.get(name).graph
    nodes = []
    model = register(lambda _: "I would rather not.")
    settings = {"model": model, "collection": "rules", "max_iterations": 1, **context}
    async for _, update in graph.astream(
        {"question": QUESTION},
        context=Context.model_validate(settings),
        stream_mode="updates",
        subgraphs=True,
    ):
        nodes += [*update]
    assert "intake" in nodes
    assert "whole_collection" not in nodes


@cases(("react", {"whole_collection": "on"}), ("whole_document", {}))
async def test_too_long_is_refused(name: str, settings: dict[str, str], shelf: Shelf) -> None:
    shelf.pages.append(shelf.pages[1]._replace(page=7, text="word " * 300))
    with pytest.raises(BadInput, match=r"has 1,\d\d\d characters; at most 1,000 are read whole"):
        await ask(name, Replies(), whole_characters=1_000, **settings)


async def test_a_plan_begins_with_its_first_step_after_a_whole_reading(shelf: Shelf) -> None:
    script = read_whole("planrag")
    script.left["plan"] = [plan("Add them up.", "Answer.")]
    await ask("planrag", script, replan="every_observation")
    (planned,) = (prompt.text for prompt in script.prompts if prompt.task == "plan")
    assert "The documents were read whole" in planned
    assert "The next step of the plan is 1: Add them up." in script.prompts[2].text


async def test_a_plan_waits_for_approval_after_a_whole_reading_too(shelf: Shelf) -> None:
    script = read_whole("planrag")
    script.left["plan"] = [plan("Add them up."), plan("Compare them."), "No plan.", "No plan."]
    thread = Thread("planrag", script, collection="rules", approve=True, **PAPER)
    memory = await thread.go(QUESTION)
    for step in ("Add them up.", "Compare them."):
        (request,) = memory["__interrupt__"][0].value["action_requests"]
        assert request["args"] == {"plan": [step]}
        memory = await thread.decide({"type": "reject", "message": "Another."})
    assert memory["plan"] == []  # and not the one that was rejected


async def test_the_whole_document_in_one_prompt_and_one_call(shelf: Shelf) -> None:
    script = Replies(answer=[{"text": "It costs $200 [1].", "short": "$200", "unknown": ""}])
    memory = await ask("whole_document", script)
    assert script.tasks == ["answer"]
    assert PAGE in script.prompts[0].text
    assert answer_of(memory)["decision"] == "$200"
    assert answer_of(memory)["facts"] == [1]


def test_a_small_model_can_quote_a_whole_sentence() -> None:
    """Its reply has few tokens: they are for few findings, and not for the beginnings of many."""
    schema: Any = fitted(ShortReading.model_json_schema(), 512)
    texts = schema["$defs"]["ShortFinding"]["properties"]
    assert min(texts[name]["maxLength"] for name in ("quote", "statement")) >= 150
