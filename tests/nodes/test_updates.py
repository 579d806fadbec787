"""Every node returns only keys that the state declares, in plain JSON, and mutates nothing.

A key that the state does not declare would vanish without a word.
"""

import copy
import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Unpack, get_type_hints

import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.tools import tool
from langgraph.runtime import Runtime
from langgraph.types import Overwrite
from pages import Shelf, put_up
from scripted import Reply, act, acts, change, decide, done, found, plan, register, steps
from worlds import WordVectors, encyclopedia, small_agents, solved

from planweave.graphs import METHODS
from planweave.graphs.ensemble import member
from planweave.memory import (
    Action,
    Answer,
    Context,
    EpisodeState,
    Exchange,
    Fact,
    InstructionPath,
    Lookup,
    Member,
    Observed,
    Page,
    Tool,
    Turn,
    WorkingMemory,
)
from planweave.nodes.acting.actor import actor, unguided
from planweave.nodes.acting.deducer import deducer
from planweave.nodes.acting.environment import environment
from planweave.nodes.acting.grounder import grounder
from planweave.nodes.acting.path_selector import path_selector
from planweave.nodes.acting.pathfinder import pathfinder
from planweave.nodes.acting.reflector import reflector
from planweave.nodes.acting.reporter import reporter
from planweave.nodes.acting.trajectories import trajectories
from planweave.nodes.deciding.answering_machine import answering_machine, may_continue
from planweave.nodes.deciding.autogpt import commander
from planweave.nodes.deciding.bound_tool import bound_tool
from planweave.nodes.deciding.calculator import calculator
from planweave.nodes.deciding.evaluator import evaluator
from planweave.nodes.deciding.experience import experience
from planweave.nodes.deciding.observer import observer
from planweave.nodes.deciding.path_answer import path_answer
from planweave.nodes.deciding.path_follower import path_follower
from planweave.nodes.deciding.plan_approval import plan_approval
from planweave.nodes.deciding.planner import planner
from planweave.nodes.deciding.query import query_node
from planweave.nodes.deciding.replanner import replanner
from planweave.nodes.deciding.selector import selector
from planweave.nodes.deciding.taskmaster import taskmaster
from planweave.nodes.deciding.thinking import thinking
from planweave.nodes.documents.documents import documents
from planweave.nodes.documents.evidence import evidence
from planweave.nodes.documents.glossary import glossary
from planweave.nodes.documents.grader import grader
from planweave.nodes.documents.reader import reader, whole_reader
from planweave.nodes.documents.whole_collection import whole_collection, whole_glossary
from planweave.nodes.drafting.appender import appender
from planweave.nodes.drafting.comparer import comparer
from planweave.nodes.drafting.drafter import drafter
from planweave.nodes.drafting.finisher import finisher
from planweave.nodes.drafting.retriever import question_documents, retriever
from planweave.nodes.drafting.reviser import reviser
from planweave.nodes.drafting.to_query import to_query
from planweave.nodes.hops.assessor import assessor
from planweave.nodes.hops.clusterer import clusterer
from planweave.nodes.hops.reasoner import reasoner
from planweave.nodes.hops.thinker import thinker
from planweave.nodes.shared.agreement import agreement
from planweave.nodes.shared.citation_check import citation_check
from planweave.nodes.shared.greeter import greeter
from planweave.nodes.shared.intake import intake
from planweave.nodes.shared.interpreter import interpreter
from planweave.nodes.shared.recall import recall
from planweave.nodes.shared.speaker import speaker
from planweave.tools import bound as bound_tools

DECLARED = set(get_type_hints(WorkingMemory))
BAD = "no JSON"


PAGE: Page = {
    "document": "a.pdf",
    "page": 3,
    "text": "The levelised cost of energy (LCOE) is 7.25 EUR/kWh in Bonn.",
    "nearest": "levelised cost",
    "score": 0.5,
}
SEARCH: Action = {"step": 1, "thought": "", "tool": "documents", "input": "cost in Bonn"}
FINDING = found("is 7.25 EUR/kWh", "It is.", {"cost": "7.25 EUR/kWh"})
LOOKUP: Lookup = {"step": 1, "query": "levelised", "page": PAGE, "problem": ""}
REVISED = {"text": "It costs 7.25."}
ANSWER: Answer = {"decision": "Bonn", "why": "It costs 2 [1].", "facts": [1], "unknown": ""}
TOLD: Exchange = {"question": "Which?", "answer": "Bonn."}
TURN: Turn = {
    "iteration": 1,
    "step": 1,
    "thought": "",
    "tool": "documents",
    "input": "cost",
    "facts": [],
    "problem": "",
    "seconds": 0.0,
}
REASONING = {"reasoning": "It is unknown.", "answer": None, "queries": ["cost"]}
MEMBER: Member = {
    "number": 1,
    "answer": ANSWER,
    "plan": [],
    "facts": [],
    "turns": [],
    "claims": [],
}
EPISODE: EpisodeState = {
    "environment": "hotpotqa",
    "task": "q1",
    "trial": 1,
    "score": 0.0,
    "done": False,
}
PATH: InstructionPath = {"instructions": ["Search[{1}]"], "origins": ["Where is it?"]}
ACTED: Turn = {**TURN, "tool": "environment", "input": "Search[Oslo]", "facts": [1]}
ACTION = {"thought": "It is there.", "action": "Search[Oslo]"}
DEDUCED = {"question": "Who?", "answer": "He.", "action": "Search[Oslo]"}
IN_ENVIRONMENT = {
    *("actor", "environment", "reporter", "pathfinder", "path_selector", "trajectories"),
    *("reflector", "deducer", "grounder"),
}
THOUGHTS = {"text": "", "reasoning": "", "plan": ["a"], "criticism": "", "speak": ""}


def state(**changed: Unpack[WorkingMemory]) -> WorkingMemory:
    fact: Fact = {
        "number": 1,
        "text": "n\n2",
        "values": {"n": 2},
        "source": "sql",
        "query": "SELECT 2",
        "quote": None,
        "faithfulness": None,
    }
    known: WorkingMemory = {
        "messages": [],
        "question": "Which plant is cheapest?",
        "greeting": False,
        "history": [],
        "schema_text": "plant(name, cost)",
        "languages": {"sql": "SQL (SQLite)", "cypher": "Cypher (Neo4j)"},
        "plan": ["Look."],
        "done_steps": [],
        "step": 1,
        "iteration": 1,
        "action": None,
        "actions": [],
        "observed": [],
        "facts": [fact],
        "turns": [],
        "replans": [],
        "replanning": "",
        "failures": [],
        "usage": {},
        "given_plan": False,
        "pages": [PAGE],
        "objection": "",
        "rejections": 0,
        "reason": "Something is missing.",
        "task": "Find the cost.",
        "abbreviations": {"kW": "kilowatt"},
        "answer": None,
        "claims": [],
        "draft": ["It costs 2.", "So it is cheap."],
        "needs": [[], [1]],
        "lookups": [LOOKUP],
        "revised": ["It costs 2.", "So it is cheap."],
        "revisions": [],
        "reasoning": "",
        "candidate_queries": [],
        "query_scores": [],
        "raises": 0,
        "members": [],
        "agreement": 0.0,
        "episode": EPISODE,
        "candidate_paths": [PATH],
        "path": None,
        "reflections": [],
        "grounded": [],
    }
    return {**known, **changed}


def chosen(tool: Tool, given: str) -> Action:
    return {"step": 1, "thought": "", "tool": tool, "input": given}


TOOLS: tuple[Tool, ...] = (
    "sql",
    "cypher",
    "documents",
    "calculator",
    "thinking",
    "replan",
    "finish",
)
ACT = "planrag/act_task"
PLANNED = steps("Look.", ("Compare.", [1]))
DECIDED = done(decide("Bonn", 1))
SEVERAL = acts(("sql", "SELECT 1", [1]), ("calculator", "f1 * 2", []))
TICKING: Turn = {
    "iteration": 1,
    "step": 1,
    "thought": "",
    "tool": "sql",
    "input": "SELECT 1",
    "facts": [1],
    "problem": "",
    "seconds": 0.1,
    "completes": [1],
}
OBSERVED = Observed(turn=TICKING, facts=state()["facts"])
CASES: list[tuple[str, Callable[..., Any], WorkingMemory, Reply]] = [
    ("intake", intake(WorkingMemory), {"question": "Which?"}, ""),
    (
        "intake, predefined",
        intake(WorkingMemory),
        {"question": "Which?", "predefined_plan": ["a"]},
        "",
    ),
    ("greeter", greeter, state(), ""),
    ("interpreter", interpreter, state(history=[TOLD]), {"follows_up": True, "question": "So?"}),
    ("interpreter, other", interpreter, state(), {"follows_up": False, "question": "So?"}),
    ("interpreter, malformed", interpreter, state(history=[TOLD]), BAD),
    ("planner, follow-up", planner("planrag/planner"), state(history=[TOLD]), plan("Look.")),
    ("planner", planner("planrag/planner"), state(), plan("Look.")),
    ("planner, nothing", planner("planrag/planner"), state(), plan()),
    ("planner, malformed", planner("planrag/planner"), state(), BAD),
    (
        "planner, combined",
        planner("planrag/planner", combined="planrag/plan_task", tools=TOOLS),
        state(),
        PLANNED,
    ),
    ("plan_approval", plan_approval, state(), ""),
    ("selector, combined", selector("planrag/selector", TOOLS, combined=ACT), state(), DECIDED),
    ("selector, several", selector("planrag/selector", TOOLS, combined=ACT), state(), SEVERAL),
    ("observer", observer, state(turns=[TICKING]), ""),
    ("observer, several", observer, state(observed=[OBSERVED, OBSERVED]), ""),
    ("selector", selector("planrag/selector", TOOLS), state(), act("sql", "SELECT 1")),
    ("selector, malformed", selector("planrag/selector", TOOLS), state(), BAD),
    ("selector, limit", selector("iter_rag/selector", TOOLS), state(iteration=99), ""),
    ("sql", query_node("database"), state(action=chosen("sql", "SELECT name FROM plant")), ""),
    ("sql, refused", query_node("database"), state(action=chosen("sql", "DROP TABLE plant")), ""),
    (
        "cypher",
        query_node("graph"),
        state(action=chosen("cypher", "MATCH (p:Plant) RETURN p.name")),
        "",
    ),
    ("calculator", calculator, state(action=chosen("calculator", "f1 * 2 + f1_n")), ""),
    ("bound_tool", bound_tool, state(action=chosen("length", "abc")), ""),
    ("bound_tool, wrong", bound_tool, state(action=chosen("length", "{}")), ""),
    ("calculator, wrong", calculator, state(action=chosen("calculator", "f9")), ""),
    ("calculator, nothing", calculator, state(action=chosen("calculator", "f1")), ""),
    ("thinking", thinking, state(action=chosen("thinking", "So it is.")), ""),
    ("replanner", replanner("planrag/replanner"), state(), change("Else.")),
    ("replanner, malformed", replanner("planrag/replanner"), state(), BAD),
    ("replanner, limit", replanner("planrag/replanner"), state(iteration=99), ""),
    (
        "replanner, asked",
        replanner("planrag/replanner"),
        state(action=chosen("replan", "No.")),
        change("x"),
    ),
    ("recall", recall, state(), ""),
    ("evidence", evidence, state(action=SEARCH), ""),
    ("documents", documents, state(action=SEARCH), ""),
    ("documents, nothing", documents, state(action={**SEARCH, "input": "ships"}), ""),
    ("grader", grader, state(action=SEARCH), {"relevant": [1]}),
    ("grader, none", grader, state(action=SEARCH), {"relevant": []}),
    ("grader, malformed", grader, state(action=SEARCH), BAD),
    ("reader", reader, state(action=SEARCH), {"findings": [FINDING]}),
    ("reader, misquoted", reader, state(action=SEARCH), {"findings": [FINDING | {"quote": "no"}]}),
    ("reader, malformed", reader, state(action=SEARCH), BAD),
    ("reader, no pages", reader, state(action=SEARCH, pages=[]), ""),
    ("glossary", glossary, state(), ""),
    ("whole_collection", whole_collection, state(), ""),
    ("whole_reader", whole_reader, state(action=SEARCH), {"findings": [FINDING]}),
    ("whole_glossary", whole_glossary, state(), ""),
    ("rewriter", selector("agent_v1/rewriter", TOOLS), state(), act("sql", "SELECT 1")),
    ("evaluator", evaluator("agent_v3/evaluator"), state(), {"notes": "No.", "verdict": "Reject"}),
    ("evaluator, malformed", evaluator("agent_v3/evaluator"), state(), BAD),
    ("taskmaster", taskmaster("agent_v3/taskmaster"), state(), {"task": "Look."}),
    ("taskmaster, malformed", taskmaster("agent_v3/taskmaster"), state(), BAD),
    (
        "autogpt",
        commander("autogpt/autogpt", TOOLS),
        state(),
        {"thoughts": THOUGHTS, "command": {"name": "sql", "input": "SELECT 1"}},
    ),
    ("autogpt, malformed", commander("autogpt/autogpt", TOOLS), state(), BAD),
    (
        "answering_machine, V3",
        may_continue("agent_v3/answering_machine", combined="agent_v3/answer_or_task"),
        state(),
        {"reason": "It is missing.", "verdict": "CONTINUE"},
    ),
    (
        "answering_machine, V3 malformed",
        may_continue("agent_v3/answering_machine", combined="agent_v3/answer_or_task"),
        state(),
        BAD,
    ),
    ("citation_check", citation_check, state(answer=ANSWER), {"verdicts": []}),
    ("reasoner", reasoner("furepa/reasoner"), state(), REASONING),
    ("reasoner, malformed", reasoner("furepa/reasoner"), state(), BAD),
    ("reasoner, limit", reasoner("furepa/reasoner"), state(iteration=99), ""),
    ("clusterer", clusterer, state(candidate_queries=["cost", "ships"]), ""),
    ("clusterer, nothing", clusterer, state(), ""),
    ("assessor", assessor, state(candidate_queries=["cost", "ships"]), ""),
    ("evidence", evidence, state(action=SEARCH), ""),
    ("thinker", thinker("ircot/thinker"), state(turns=[TURN]), {"thought": "So.", "answer": None}),
    ("thinker, first", thinker("ircot/thinker"), state(), ""),
    ("thinker, malformed", thinker("ircot/thinker"), state(turns=[TURN]), BAD),
    ("member", member, state(iteration=1), ""),
    ("agreement", agreement, state(members=[MEMBER]), ""),
    ("agreement, none", agreement, state(members=[]), ""),
    ("speaker", speaker, state(answer=ANSWER), ""),
    ("answering_machine", answering_machine, state(), decide("Bonn", 1)),
    ("answering_machine, malformed", answering_machine, state(), BAD),
    ("answering_machine, no facts", answering_machine, state(facts=[]), ""),
    ("drafter", drafter, state(plan=[]), {"thought": "So.", "steps": ["It costs 2."]}),
    ("drafter, given", drafter, state(), ""),
    ("drafter, malformed", drafter, state(plan=[]), BAD),
    ("to_query", to_query, state(step=2), {"query": "cost in Bonn"}),
    ("to_query, malformed", to_query, state(step=2), BAD),
    ("retriever", retriever, state(lookups=[{**LOOKUP, "page": None}]), ""),
    ("documents of the question", question_documents, state(question="levelised"), ""),
    ("comparer", comparer, state(), ""),
    ("comparer, stated", comparer, state(revised=[PAGE["text"]]), ""),
    ("reviser", reviser, state(step=1), REVISED),
    ("reviser, malformed", reviser, state(step=1), BAD),
    ("appender", appender, state(), ""),
    ("appender, nothing", appender, state(lookups=[{**LOOKUP, "page": None}]), ""),
    ("finisher", finisher, state(), {"text": "It costs 2 [1].", "short": "2", "unknown": ""}),
    ("finisher, malformed", finisher, state(), BAD),
    ("intake, environment", intake(WorkingMemory), {}, ""),
    ("actor", actor(unguided), state(), ACTION),
    ("actor, malformed", actor(unguided), state(), BAD),
    ("actor, limit", actor(unguided), state(iteration=99), ""),
    ("environment", environment, state(action=chosen("environment", "Search[Oslo]")), ""),
    ("environment, over", environment, state(action=chosen("environment", "Finish[it]")), ""),
    ("reporter", reporter, state(turns=[ACTED]), ""),
    ("reporter, nothing", reporter, state(), ""),
    ("experience", experience(always=True), state(plan=[]), ""),
    ("path_follower", path_follower, state(path=PATH), ""),
    ("path_answer", path_answer, state(), ""),
    ("pathfinder", pathfinder, state(), ""),
    ("path_selector", path_selector, state(), ""),
    ("path_selector, nothing", path_selector, state(candidate_paths=[]), ""),
    ("trajectories", trajectories, state(), ""),
    ("reflector", reflector, state(turns=[ACTED]), {"reflection": "Search more."}),
    ("reflector, malformed", reflector, state(), BAD),
    ("deducer", deducer, state(), DEDUCED),
    ("deducer, malformed", deducer, state(), BAD),
    ("deducer, limit", deducer, state(iteration=99), ""),
    ("grounder", grounder, state(turns=[ACTED]), {"answer": "It."}),
    ("grounder, malformed", grounder, state(turns=[ACTED]), BAD),
]


@pytest.mark.parametrize(("name", "node", "given", "reply"), CASES, ids=[c[0] for c in CASES])
async def test_update(
    name: str,
    node: Callable[..., Any],
    given: WorkingMemory,
    reply: Reply,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shelf = Shelf((PAGE["document"], PAGE["page"], PAGE["text"]))
    put_up(monkeypatch, shelf)
    monkeypatch.setattr(
        "planweave.nodes.hops.clusterer.embeddings", lambda: DeterministicFakeEmbedding(size=8)
    )
    (tmp_path / "p.sql").write_text("CREATE TABLE plant(name TEXT); INSERT INTO plant VALUES('a');")
    (tmp_path / "p.cql").write_text('CREATE (:Plant {name: "a"});')
    monkeypatch.setattr("planweave.learning.guide.embeddings", WordVectors)
    monkeypatch.setattr(bound_tools.TOOLS, "_known", {"length": length})
    acting: dict[str, Any] = {
        "environment": "hotpotqa",
        "environment_data": str(encyclopedia(tmp_path)),
        "environment_task": "q1",
        "paths": str(solved(tmp_path)),
        "agents": str(small_agents(tmp_path)),
    }
    inside = name == "intake, environment" or name.partition(",")[0] in IN_ENVIRONMENT
    context = Context(
        **(acting if inside else {}),
        model=register(lambda prompt: reply),
        database=str(tmp_path / "p.sql"),
        graph=str(tmp_path / "p.cql"),
        collection="energy" if name.startswith(_ON_DOCUMENTS) else None,
        corrective=True,
        skip_agreeing=True,
        citation_check="model",
        ensemble_of="agent_v1",
    )
    before = copy.deepcopy(given)
    more = {"runtime": Runtime(context=context)} if "runtime" in _parameters(node) else {}
    update = node(given, **more)
    update = await update if inspect.isawaitable(update) else update
    assert given == before
    assert set(update) <= DECLARED
    for key, value in update.items():
        plain = value.value if isinstance(value, Overwrite) else value
        assert key == "messages" or json.loads(json.dumps(plain)) == plain


@tool
def length(text: str) -> int:
    """Number of letters."""
    return len(text)


_ON_DOCUMENTS = ("documents", "citation", "retriever", "whole_collection")


def _parameters(node: Callable[..., Any]) -> set[str]:
    return set(inspect.signature(node).parameters)


def test_every_node_of_every_graph_is_tried() -> None:
    tried = {name.partition(",")[0] for name, *_ in CASES} | {"search"}  # as documents
    for name in METHODS:
        builder = METHODS.get(name).builder
        inside = builder.subgraphs()
        graphs = [builder, *(graph.builder for graph in inside.values())]
        assert {node for graph in graphs for node in graph.nodes} - inside.keys() <= tried
