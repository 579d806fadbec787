"""What past successes say to a new question: nearest paths, proposals, slots, agents."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from bag_of_words import WordEmbeddings, embed
from worlds import PATHS, small_agents, solved

from planweave import BadInput
from planweave.learning.experience import experience_of
from planweave.learning.graph_states import PathSample
from planweave.learning.guide import Guide, make_guide, open_guide
from planweave.learning.instruction_graph import InstructionGraph
from planweave.learning.ml_agent import MLAgent
from planweave.learning.paths import TaskPath, read_paths
from planweave.learning.rl_agent import Parameters, Proposal, RLAgent

BORN = "In which country was the composer of Finlandia born?"


class Walks(RLAgent):
    """Proposes the forms of the graph's paths, the last one first."""

    def __init__(self) -> None:
        pass

    def propose(self, graph: InstructionGraph, question: str, k: int = 3) -> list[Proposal]:
        return [Proposal(p.instructions, (p.question,)) for p in reversed(graph.paths)][:k]


class Shortest(MLAgent):
    """Selects the path of the fewest instructions."""

    def __init__(self) -> None:
        pass

    def select(self, question: str, proposals: Sequence[Proposal]) -> int:
        lengths = [len(proposal.instructions) for proposal in proposals]
        return lengths.index(min(lengths))


class Wide(WordEmbeddings):
    """As long as the vectors of the shipped agents."""

    def vectors(self, texts: list[str]) -> list[list[float]]:
        return [[*vector, *[0.0] * 320] for vector in super().vectors(texts)]


def guide(folder: Path) -> Guide:
    return Guide(read_paths(solved(folder)), embed)


def test_the_nearest_whole_paths_that_succeeded(tmp_path: Path) -> None:
    nearest = guide(tmp_path).nearest(BORN, 5)
    assert [path.question for path in nearest] == [PATHS[0]["question"], PATHS[1]["question"]]
    assert nearest[0].instructions[0] == "Search[Valse triste]"
    with pytest.raises(BadInput, match="no path that succeeded"):
        Guide([TaskPath("", "Who?", ("Finish[me]",), reward=0.5)], embed)


def test_without_agents_the_nearest_forms_are_proposed(tmp_path: Path) -> None:
    again = TaskPath("", "Is Turku a town of Norway?", ("Search[Turku]", "Finish[no]"))
    known = Guide([*read_paths(solved(tmp_path)), again], embed)
    first, *others = known.propose("Is Oslo a town of Sweden?", 2)
    assert first.instructions == ("Search[{1}]", "Finish[{answer}]")
    assert set(first.origins) == {PATHS[1]["question"], again.question}  # one form, two questions
    assert len(others) == 1
    assert known.select("Is Oslo a town of Sweden?", [first, *others]) == 0


def test_names_of_the_question_fill_the_slots(tmp_path: Path) -> None:
    known = guide(tmp_path)
    given = ["Search[{1} {asked}]", "Search[{3}]", "Lookup[{2} {found}]", "go to {9}"]
    wanted = ("Search[Oslo {asked}]", "Search[{asked}]", "Lookup[Sweden {found}]", "go to {9}")
    assert known.adapted(given, "Is Oslo a town of Sweden?") == wanted


def test_paths_that_a_question_cannot_fill_are_not_proposed(tmp_path: Path) -> None:
    paths = read_paths(solved(tmp_path))
    three = TaskPath("", "Are Ann, Bob and Eve kin?", ("Search[Ann]", "Search[Eve]", "Finish[no]"))
    question = "Are Liv kin?"
    for agents in ((), (Walks(), Shortest())):
        known = Guide([*paths, three], embed, *agents)
        proposed = known.propose(question, 3)
        assert proposed
        assert not any("{3}" in text for path in proposed for text in path.instructions)
    (kin,) = Guide([three], embed).propose("Are Ida, Ole and Una kin?", 1)
    shown = known.shown(kin, "Are Ida, Ole and Una kin?")
    assert shown == ("Search[Ida]", "Search[Una]", "Finish[{answer}]")
    assert known.shown(kin, question) is None


def test_paths_of_one_query_share_an_instruction() -> None:
    ranked = "sql[SELECT node AS decision FROM flow WHERE home = '{}' ORDER BY flow DESC]"
    paths = [
        TaskPath(
            "", f'Your home is "{home}". Which node?', (ranked.format(home), "finish[decision]")
        )
        for home in ("Ash", "Elm")
    ]
    known = Guide(paths, embed)
    one, other = (known.graph.walk(path.key) for path in known.graph.paths)
    assert one == other
    texts = [text for held in known.graph.nodes.values() for text in held]
    assert texts == [ranked.replace("'{}'", "{{flow.home}}"), "finish[decision]"]
    (proposed,) = known.propose('Your home is "Oak". Which node?', 2)
    assert proposed.instructions == tuple(texts)
    assert {*proposed.origins} == {path.question for path in paths}


def test_agents_propose_from_the_graph_and_select(tmp_path: Path) -> None:
    known = Guide(read_paths(solved(tmp_path)), embed, Walks(), Shortest())
    proposed = known.propose(BORN, 2)
    assert [one.origins for one in proposed] == [(PATHS[1]["question"],), (PATHS[0]["question"],)]
    assert known.graph.paths[0].instructions[0] == "Search[{1} {asked}]"
    assert known.select(BORN, proposed) == 0
    assert known.select(BORN, [Proposal(("a", "b")), Proposal(("a",))]) == 1


def test_guides_take_agents_by_name_or_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def vectors(name: str = "the default") -> WordEmbeddings:
        asked.append(name)
        return WordEmbeddings()

    monkeypatch.setattr("planweave.learning.guide.embeddings", vectors)
    make_guide.cache_clear()
    paths = tuple(read_paths(solved(tmp_path)))
    alone, both = make_guide(paths, "none"), make_guide(paths, str(small_agents(tmp_path)))
    assert (alone.proposer, alone.selector) == ("nearest in form", "first of the proposed")
    assert (both.proposer, both.selector) == ("RL-Agent", "ML-Agent")
    assert asked == ["the default", "minilm"]  # agents see through the model of their training
    proposed = both.propose(BORN, 2)
    forms = {text for path in paths for text in both.form(path)}
    assert {text for one in proposed for text in one.instructions} <= forms
    assert both.select(BORN, proposed) in range(len(proposed))


def test_the_shipped_agents_guide(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("planweave.learning.guide.embeddings", lambda _: Wide())
    guided = make_guide(tuple(read_paths(solved(tmp_path))), "shipped")
    assert guided.select(BORN, guided.propose(BORN, 3)) >= 0


@pytest.mark.usefixtures("word_vectors")
def test_agents_of_the_environment_are_not_calibrated(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    known: list[int] = []

    def counted(parameters: Parameters, samples: Sequence[PathSample], *_: object) -> Parameters:
        known.append(len(samples))
        return parameters

    monkeypatch.setattr("planweave.learning.rl_agent.calibrate", counted)
    paths, agents = tuple(read_paths(solved(tmp_path))), small_agents(tmp_path)
    make_guide.cache_clear()
    make_guide(paths, str(agents)).propose(BORN, 2)
    assert known == [2]
    card = agents.with_suffix(".json")
    card.write_text(card.read_text("utf-8").replace('"overlap"', '"environment"'), "utf-8")
    make_guide.cache_clear()
    make_guide(paths, str(agents)).propose(BORN, 2)
    assert known == [2]


@pytest.mark.usefixtures("word_vectors")
def test_a_guide_is_of_a_file_or_an_owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANWEAVE_STATE_DIR", str(tmp_path / "state"))
    file = str(solved(tmp_path))
    assert open_guide(file, "alice") is open_guide(file, "bob")
    with pytest.raises(BadInput, match="no path that succeeded"):
        open_guide(None, "alice")
    experience_of("alice").add(read_paths(Path(file))[:1])
    assert len(open_guide(None, "alice").paths) == 1
    with pytest.raises(BadInput, match="no path that succeeded"):
        open_guide(None, "bob")
