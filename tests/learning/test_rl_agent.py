"""The RL-Agent's states, search and paths, on graphs made by hand."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from cases import cases

from planweave.learning import Floats
from planweave.learning.graph_states import FEATURES, QuestionView, Survey, Walk
from planweave.learning.instruction_graph import InstructionGraph
from planweave.learning.overlap import ordered_overlap, overlap, recall, reward_by_overlap
from planweave.learning.paths import TaskPath
from planweave.learning.rl_agent import Policy, RLAgent, Traversal, choose_candidates, search_first
from planweave.learning.slots import QuestionSlots

# Vectors of two numbers; a cosine can be seen at a glance.
PLACES = {"Q": (1.0, 0.0), "near": (0.8, 0.6), "far": (0.0, 1.0), "Finish[x]": (-1.0, 0.0)}
PLACES |= {"a": (1.0, 0.0), "b": (0.6, 0.8), "c": (0.0, 1.0), "d": (-0.6, 0.8), "e": (-1.0, 0.0)}


def embed(texts: Sequence[str]) -> Floats:
    return np.array([PLACES[text] for text in texts], np.float32)


def graph(*paths: tuple[str, str, str]) -> InstructionGraph:
    """Of (task, question, instructions as letters)."""
    made = InstructionGraph(embed, threshold=1.0)  # a node for each instruction
    made.insert_all([TaskPath(task, question, tuple(letters)) for task, question, letters in paths])
    return made


FORK = graph(("t", "near", "abc"), ("u", "far", "abd"))


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


def formed(seen: QuestionView, chances: dict[str, float], k: int, rule: str = "") -> list[str]:
    """The paths that the search forms."""
    follows = (lambda _, i: i not in rule) if rule else None
    return spelt(seen, Traversal(seen, by_letter(chances), k, rule=follows).formed)


def spelt(seen: QuestionView, walks: Sequence[Walk]) -> list[str]:
    return ["".join(seen.survey.texts[text] for text in texts) for _, texts in walks]


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


def test_an_instruction_enters_a_path_once() -> None:
    loop = view(graph(("t", "near", "aba")))
    assert list(by_name(loop, "a")) == ["b"]
    assert by_name(loop, "ab") == {}


def test_the_search_includes_goes_on_and_forms_a_path_when_it_excludes() -> None:
    assert formed(view(), {"a": 0.9, "b": 0.9, "c": 0.9, "d": 0.1}, 3) == ["abc"]
    assert formed(view(), {"a": 0.9, "b": 0.9, "c": 0.6, "d": 0.8}, 3) == ["abd", "abc"]
    assert formed(view(), {"a": 0.9, "b": 0.2, "c": 0.9, "d": 0.9}, 3) == ["a"]


def test_the_first_k_of_more_are_the_k() -> None:
    wide = view(graph(("t", "near", "abc"), ("u", "far", "abd"), ("u", "near", "ae")))
    likely = {"a": 0.9, "b": 0.8, "c": 0.6, "d": 0.7, "e": 0.55}
    five = formed(wide, likely, 5)
    assert five == ["abd", "abc", "ae"]
    assert [formed(wide, likely, k) for k in (1, 2)] == [five[:1], five[:2]]


def test_a_first_node_that_was_excluded_is_used_if_paths_are_missing() -> None:
    two = view(graph(("t", "near", "ab"), ("u", "far", "cd")))
    assert formed(two, {"a": 0.9, "b": 0.9, "c": 0.1, "d": 0.9}, 2) == ["ab", "cd"]


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


def always(features: int) -> dict[str, Floats]:
    """A policy that includes everything."""
    weights = {"w1": np.zeros((features, 1)), "b1": np.zeros(1), "w2": np.zeros((1, 2))}
    return {n: v.astype(np.float32) for n, v in weights.items()} | {
        "b2": np.array([0.0, 1.0], np.float32)
    }


def test_proposals_tell_their_origins() -> None:
    agent = RLAgent(always(len(FEATURES)), embed)
    found = agent.propose(FORK, "Q", 2)
    assert [each[:2] for each in found] == [
        (("a", "b", "c"), ("near", "far")),
        (("a", "b", "d"), ("near", "far")),
    ]
    assert found[0].expected > found[1].expected > 0


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


def test_proposals_follow_the_graph_as_it_changes() -> None:
    agent, growing = RLAgent(always(len(FEATURES)), embed), InstructionGraph(embed, 1.0)
    assert agent.propose(growing, "Q") == []
    growing.insert_all([TaskPath("t", "near", ("a",))])
    assert [each.instructions for each in agent.propose(growing, "Q")] == [("a",)]
    growing.insert_all([TaskPath("t", "near", ("b",))])
    assert ("b",) in [each.instructions for each in agent.propose(growing, "Q")]


@cases(
    ("ab", "ab", 1.0),
    ("ab", "bc", 0.5),
    ("aab", "ab", 1.0),  # how often each comes plays no part
    ("", "ab", 0.0),
    ("", "", 1.0),
)
def test_overlap(found: str, truth: str, expected: float) -> None:
    ending = ("Finish[{answer}]",)
    assert overlap((*found, *ending), tuple(truth)) == pytest.approx(expected)
    assert overlap(tuple(truth), (*found, *ending)) == pytest.approx(expected)


@cases(
    ("abc", "abc", 1.0),
    ("cab", "abc", 2 / 3),  # the c is out of place
    ("cba", "abc", 1 / 3),
    ("ac", "abc", 4 / 5),
    ("abab", "ab", 1.0),  # each counts where it comes first
    ("", "ab", 0.0),
    ("", "", 1.0),
)
def test_overlap_in_order(found: str, truth: str, expected: float) -> None:
    ending = ("Finish[{answer}]",)
    assert ordered_overlap((*found, *ending), tuple(truth)) == pytest.approx(expected)
    assert ordered_overlap(tuple(truth), (*found, *ending)) == pytest.approx(expected)
    assert reward_by_overlap(TaskPath("t", "q", (*truth, *ending)), tuple(found)) == pytest.approx(
        expected
    )


def test_a_whole_path_is_expected_to_stand_in_order() -> None:
    alone = view(without=[1])  # one like path: abc
    assert [alone.expected(path) for path in ("abc", "cab", "")] == pytest.approx([1, 2 / 3, 0])
    assert view(without=[0, 1]).expected("abc") == 0  # no path is seen
    at_once = InstructionGraph(embed, 1.0)
    at_once.insert_all([TaskPath("t", "near", ("Finish[x]",))])
    assert view(at_once).expected(["Finish[x]"]) == 0


def test_recall_is_of_all_candidates_together() -> None:
    assert recall(["ab", "cd"], "ace") == pytest.approx(2 / 3)
    assert recall([], "a") == 0
    assert recall([], ["finish[yes]"]) == 1


def test_slots_of_a_question_and_its_path() -> None:
    path = TaskPath(
        "t",
        "Did Clara Whitfield and Otto Reyes share a profession?",
        (
            "search[Clara Whitfield profession]",
            "Search[Otto Reyes]",
            "Search[Otto Reyes]",
            "Lookup[American director's birth]",
            "Finish[yes]",
        ),
    )
    slots = QuestionSlots.of([path])
    assert slots.names(path.question) == ["Clara Whitfield", "Otto Reyes"]
    assert slots.question(path.question) == "Did {1} and {2} share a profession?"
    wanted = (
        "Search[{1} {asked}]",
        "Search[{2}]",
        "Lookup[{found} director birth]",
        "Finish[{answer}]",
    )
    assert slots.path(path).instructions == wanted
    assert slots.path(path).question == path.question


def test_slots_of_numbered_objects() -> None:
    stored = TaskPath(
        "t", "put a clean mug in cabinet.", ("take mug 1 from shelf 6", "go to cabinet 2")
    )
    slots = QuestionSlots.of([stored])
    asked = TaskPath(
        "t", "put some mug on shelf.", ("take mug 3 from cabinet 1", "put mug 3 on shelf 2")
    )
    assert slots.question(asked.question) == "put some {1} on {2}."
    assert slots.path(asked).instructions == ("take {1} from cabinet", "put {1} on {2}")


def test_what_all_questions_do_alike_stands_as_it_is() -> None:
    stored = [
        TaskPath(
            "t",
            f"i want a {what} box",
            (f"search[{what} box]", f"click[B{what}]", "Click[Buy Now]"),
        )
        for what in ("red", "tin", "big")
    ]
    slots = QuestionSlots.of(stored)
    alike = ("Search[{asked}]", "Click[{found}]", "Click[Buy Now]")
    assert slots.path(stored[0]).instructions == alike
    assert QuestionSlots.of(stored[:2]).path(stored[0]).instructions[1:] == ("Click[{found}]",)


def test_queries_keep_their_text_but_for_what_the_question_names() -> None:
    ranked = "SELECT node AS decision FROM flow WHERE home = {} ORDER BY flow DESC"
    learned, own = (
        TaskPath("t", f'Your home is "{home}". Which node?', (query, finish))
        for home, query, finish in (
            ("Ash", f"sql[{ranked.format('{{flow.home}}')}]", "finish[decision]"),
            ("Elm", f"SQL[{ranked.format(repr('Elm'))}]", "Finish[Oak]"),
        )
    )
    slots = QuestionSlots.of([learned, own])
    assert slots.path(learned) == learned
    assert slots.path(own).instructions == (learned.instructions[0], "Finish[{answer}]")
    small = replace(own, instructions=("search[Ash]", "finish[Elm]"))  # as most published ones are
    assert slots.path(small).instructions[1] == "Finish[{answer}]"
    column = replace(own, instructions=(own.instructions[0], "finish[town]"))
    assert slots.path(column).instructions[1] == "finish[town]"
    assert slots.question(own.question) == slots.question(learned.question)


def test_quoted_names_and_longer_names_first() -> None:
    question = 'Who wrote "The News Quiz" for Brown University before Brown left?'
    assert QuestionSlots().names(question) == ["The News Quiz", "Brown University", "Brown"]
    assert QuestionSlots().question(question) == 'Who wrote "{1}" for {2} before {3} left?'
