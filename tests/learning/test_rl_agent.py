"""The RL-Agent's states, search and paths, on graphs made by hand."""

from collections.abc import Sequence

import numpy as np
import pytest
from cases import cases

from planweave.learning import Floats
from planweave.learning.graph_states import FEATURES, QuestionView, Survey, Walk
from planweave.learning.instruction_graph import InstructionGraph
from planweave.learning.overlap import ordered_overlap, overlap, recall, reward_by_overlap
from planweave.learning.paths import TaskPath
from planweave.learning.rl_agent import Policy, RLAgent, Traversal, choose_candidates, search_first

# Vectors of two numbers; a cosine can be seen at a glance.
PLACES = {"Q": (1.0, 0.0), "near": (0.8, 0.6), "far": (0.0, 1.0), "Finish[x]": (-1.0, 0.0)}
PLACES |= {"a": (1.0, 0.0), "b": (0.6, 0.8), "c": (0.0, 1.0), "d": (-0.6, 0.8), "e": (-1.0, 0.0)}


def embed(texts: Sequence[str]) -> Floats:
    return np.array([PLACES[text] for text in texts], np.float32)


def graph(*paths: tuple[str, str, str]) -> InstructionGraph:
    """Of (task, question, instructions as letters)."""
    given = [TaskPath(task, question, tuple(letters)) for task, question, letters in paths]
    return InstructionGraph.of(given, embed, threshold=1.0)  # a node for each instruction


PAIR = (("t", "near", "abc"), ("u", "far", "abd"))
FORK = graph(*PAIR)


def view(
    of: InstructionGraph = FORK, without: Sequence[int] = (), *, printed: bool = False
) -> QuestionView:
    return QuestionView(Survey(of, embed), embed(["Q"])[0], without, printed=printed)


def by_name(seen: QuestionView, walk: str) -> dict[str, dict[str, float]]:
    """The features of what may follow, by instruction."""
    survey = seen.survey
    texts = tuple(survey.text_row[letter] for letter in walk)
    nodes = tuple(survey.holders[text][0] for text in texts)
    return {
        survey.texts[choice.text]: dict(zip(FEATURES, choice.state.tolist(), strict=True))
        for choice in seen.choices(nodes, texts)
    }


def by_letter(chances: dict[str, float]) -> Policy:
    """A policy which knows each instruction by its cosine with Q."""
    cosines = {letter: PLACES[letter][0] for letter in chances}

    def decide(states: Floats) -> Floats:
        column = states[:, FEATURES.index("question~instruction")]
        found = [min(cosines, key=lambda name: abs(cosines[name] - value)) for value in column]
        return np.array([chances[name] for name in found], np.float32)

    return decide


def spelt(seen: QuestionView, walks: Sequence[Walk]) -> list[str]:
    return ["".join(seen.survey.texts[text] for text in texts) for _, texts in walks]


def formed(seen: QuestionView, chances: dict[str, float], k: int, rule: str = "") -> list[str]:
    """The paths that the search forms."""
    follows = (lambda _, i: i not in rule) if rule else None
    return spelt(seen, Traversal(seen, by_letter(chances), k, rule=follows).formed)


def test_the_printed_state_is_three_cosines() -> None:
    states = by_name(view(printed=True), "a")
    assert states["b"]["question~instruction"] == pytest.approx(0.6)
    assert states["b"]["question~task"] == pytest.approx(0.8)  # the best of two tasks: t
    assert states["b"]["question~task_question"] == pytest.approx(0.8)
    states = by_name(view(printed=True), "ab")
    assert states["d"]["question~instruction"] == pytest.approx(-0.6)
    assert states["d"]["question~task"] == pytest.approx(0.0)


def test_what_a_path_promises_is_its_expected_overlap() -> None:
    alone = view(without=[1])  # one like path: abc
    states = {walk: by_name(alone, walk)[after] for walk, after in (("", "a"), ("ab", "c"))}
    assert states[""]["expected"] == 0
    assert states[""]["gain"] == pytest.approx(10 * 2 / 4)  # a alone: 2 * 1 / (1 + 3)
    assert states[""]["promise"] == pytest.approx(10)  # abc, as the stored path goes on
    assert states["ab"]["expected"] == pytest.approx(4 / 5)
    assert states["ab"]["gain"] == pytest.approx(10 * (1 - 4 / 5))


def test_a_path_that_is_overlooked_leaves_no_trace() -> None:
    alone = view(without=[1])
    assert list(by_name(alone, "ab")) == ["c"]
    assert by_name(alone, "ab")["c"]["edge_share"] == pytest.approx(1)
    assert by_name(view(without=[0, 1]), "") == {}


LOOP = (("t", "near", "aba"),)  # an instruction enters a path once
TWO = (("t", "near", "ab"), ("u", "far", "cd"))
WIDE = (("t", "near", "abc"), ("u", "far", "abd"), ("u", "near", "ae"))


@cases(
    (PAIR, {"a": 0.9, "b": 0.9, "c": 0.9, "d": 0.1}, 3, ["abc"]),
    (PAIR, {"a": 0.9, "b": 0.9, "c": 0.6, "d": 0.8}, 3, ["abd", "abc"]),
    (PAIR, {"a": 0.9, "b": 0.2, "c": 0.9, "d": 0.9}, 3, ["a"]),
    (LOOP, {"a": 0.9, "b": 0.9}, 3, ["ab"]),
    # a first node that was excluded is used if paths are missing
    (TWO, {"a": 0.9, "b": 0.9, "c": 0.1, "d": 0.9}, 2, ["ab", "cd"]),
    (WIDE, {"a": 0.9, "b": 0.8, "c": 0.6, "d": 0.7, "e": 0.55}, 5, ["abd", "abc", "ae"]),
)
def test_the_search_includes_goes_on_and_forms_a_path_when_it_excludes(
    paths: Sequence[tuple[str, str, str]], chances: dict[str, float], k: int, found: list[str]
) -> None:
    seen = view(graph(*paths))
    assert formed(seen, chances, k) == found
    for fewer in range(1, len(found)):  # the first k of more are the k
        assert formed(seen, chances, fewer) == found[:fewer]


def test_a_rule_forbids_what_may_not_follow() -> None:
    assert formed(view(), {"a": 0.9, "b": 0.9, "c": 0.9, "d": 0.9}, 3, rule="c") == ["abd"]
    assert not search_first([], "Lookup[{asked}]")
    assert search_first(["Search[{1}]"], "Lookup[{asked}]")
    assert search_first([], "go to shelf")


def test_as_printed_the_search_starts_at_the_nearest_instruction() -> None:
    later = graph(("t", "near", "ca"))  # its second instruction is the nearest to Q
    printed, ours = view(later, printed=True), view(later)
    assert printed.survey.texts[printed.choices((), ())[0].text] == "a"
    assert [ours.survey.texts[choice.text] for choice in ours.choices((), ())] == ["c"]


def test_proposals_tell_their_origins_and_follow_the_graph_as_it_changes() -> None:
    n = len(FEATURES)
    zero = {"w1": np.zeros((n, 1), np.float32), "b1": np.zeros(1, np.float32)}
    always = zero | {"w2": np.zeros((1, 2), np.float32), "b2": np.array([0, 1], np.float32)}
    agent, growing = RLAgent(always, embed), InstructionGraph(embed, 1.0)
    found = agent.propose(FORK, "Q", 2)
    assert [each[:2] for each in found] == [
        (("a", "b", "c"), ("near", "far")),
        (("a", "b", "d"), ("near", "far")),
    ]
    assert found[0].expected > found[1].expected > 0
    assert agent.propose(growing, "Q") == []
    growing.insert_all([TaskPath("t", "near", ("a",))])
    assert [each.instructions for each in agent.propose(growing, "Q")] == [("a",)]
    growing.insert_all([TaskPath("t", "near", ("b",))])
    assert ("b",) in [each.instructions for each in agent.propose(growing, "Q")]


def test_the_first_candidate_is_expected_to_overlap_most_and_the_others_to_recall_most() -> None:
    three = graph(("t", "near", "ab"), ("u", "far", "ad"), ("u", "far", "ce"))
    chances = {"a": 0.1, "b": 0.1, "c": 0.9, "d": 0.9, "e": 0.8}

    def proposed(k: int, *, printed: bool = False) -> list[str]:
        seen = view(three, printed=printed)
        return spelt(seen, choose_candidates(seen, by_letter(chances), k))

    # The search forms ce and ad. The nearest question's ab is expected to overlap most; beside it
    # ad has more in common with ab, but of what is missing ce brings more.
    assert proposed(9) == ["ab", "ce", "ad"]
    assert [proposed(k) for k in (1, 2, 3)] == [proposed(9)[:k] for k in (1, 2, 3)]
    assert proposed(3, printed=True) == formed(view(three, printed=True), chances, 3)


@cases(
    ("abc", "abc", 1.0, 1.0),
    ("cab", "abc", 1.0, 2 / 3),  # the c is out of place
    ("cba", "abc", 1.0, 1 / 3),
    ("ac", "abc", 4 / 5, 4 / 5),
    ("ab", "bc", 1 / 2, 1 / 2),
    ("abab", "ab", 1.0, 1.0),  # each counts where it comes first
    ("", "ab", 0.0, 0.0),
    ("", "", 1.0, 1.0),
)
def test_overlap_and_overlap_in_order(found: str, truth: str, any_: float, ordered: float) -> None:
    ending = ("Finish[{answer}]",)
    for one, other in (((*found, *ending), [*truth]), ([*truth], (*found, *ending))):
        assert overlap(one, other) == pytest.approx(any_)
        assert ordered_overlap(one, other) == pytest.approx(ordered)
    path = TaskPath("t", "q", (*truth, *ending))
    assert reward_by_overlap(path, tuple(found)) == pytest.approx(ordered)


def test_recall_is_of_all_candidates_together() -> None:
    assert recall(["ab", "cd"], "ace") == pytest.approx(2 / 3)
    assert recall([], "a") == 0
    assert recall([], ["finish[yes]"]) == 1


def test_a_whole_path_is_expected_to_stand_in_order() -> None:
    alone = view(without=[1])  # one like path: abc
    assert [alone.expected(path) for path in ("abc", "cab", "")] == pytest.approx([1, 2 / 3, 0])
    assert view(without=[0, 1]).expected("abc") == 0  # no path is seen
    at_once = InstructionGraph.of([TaskPath("t", "near", ("Finish[x]",))], embed, 1.0)
    assert view(at_once).expected(["Finish[x]"]) == 0
