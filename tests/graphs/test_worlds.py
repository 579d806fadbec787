"""Every method carries a generated question of every scenario, relational and as a graph."""

from pathlib import Path

import pytest
from scripted import Prompt, Replies, Reply, act, decide, keep, plan, register

from planweave.graphs import METHODS, of_family
from planweave.memory import Context, WorkingMemory
from planweave.simulators.registry import scenario
from planweave.simulators.scenario import Question


@pytest.fixture(params=["building", "distribution", "locating", "sourcing"])
def question(request: pytest.FixtureRequest) -> Question:
    plugin = scenario(request.param)
    return plugin.ask(plugin.generate(7, 60))


class Lister(Replies):
    """Lists the possible decisions by one query and takes the first that the question admits."""

    def __init__(self, tool: str, query: str) -> None:
        super().__init__()
        self.tool, self.query = tool, query

    def __call__(self, prompt: Prompt) -> Reply:
        self.prompts.append(prompt)
        if prompt.task == "plan":
            return plan("List the decisions.", "Take one.")
        if prompt.task == "judge":
            return keep()
        known = "Fact [1]: name\n" in prompt.text
        if prompt.task == "action":
            return act("finish") if known else act(self.tool, self.query)
        rows = prompt.text.partition("Fact [1]: name\n")[2].partition("\n\n")[0].splitlines()
        return decide(rows[prompt.text.count("is not one of the decisions")], 1)


def _lister(question: Question, kind: str) -> Lister:
    candidates = set(question.candidates)
    for node in question.scenario.graph.nodes:
        if candidates <= set(question.world[node.table].values(node.key)):
            key = node.property(node.key)
            if kind == "sql":
                return Lister("sql", f"SELECT {node.key} AS name FROM {node.table}")
            return Lister("cypher", f"MATCH (n:{node.label}) RETURN n.{key} AS name")
    raise AssertionError("no table holds the candidates")


@pytest.mark.parametrize("name", of_family("decide"))
@pytest.mark.parametrize("kind", ["sql", "cypher"])
async def test_every_method_on_every_scenario(
    name: str, kind: str, question: Question, tmp_path: Path
) -> None:
    assert question.database is not None
    path = tmp_path / ("world.sql" if kind == "sql" else "world.cql")
    path.write_text(question.database.sql if kind == "sql" else question.database.cypher)
    script = _lister(question, kind)
    context = Context(
        model=register(script),
        database=str(path) if kind == "sql" else None,
        graph=str(path) if kind == "cypher" else None,
        rules=question.rules,
        candidates=tuple(str(candidate) for candidate in question.candidates),
    )
    memory: WorkingMemory = await METHODS.get(name).graph.ainvoke(
        {"question": question.prompt}, context=context
    )
    assert memory["answer"] is not None
    assert memory["answer"]["decision"] in context.candidates
    assert memory["answer"]["facts"] == [1]
    assert memory["failures"] == []
    assert [turn["problem"] for turn in memory["turns"]] == [""]
    assert question.rules.strip() in script.prompts[0].text
    assert question.prompt.strip() in script.prompts[0].text
