"""Aids in asking a model: its choices, what it sees, its temperature, the length of replies."""

from collections import Counter
from collections.abc import Sequence

from planweave.memory import SOURCES, Action, Context, TaskFamily, Tool, Turn, WorkingMemory
from planweave.nodes.support.turns import normalise
from planweave.prompts import load

_TEMPERATURE_PER_REPETITION = 0.4
_QUERY_WRITER = "query_writer"
FEW_FINDINGS = 3


def writes_queries(context: Context) -> bool:
    """Whether the ``query_writer`` corrects queries and turns words into queries."""
    return context.assists(_QUERY_WRITER)


def answers_in_rows(context: Context) -> bool:
    """Whether the rows of a query may be the answer, without a model that repeats them."""
    return context.assists("answering_machine")


def max_findings(context: Context) -> int:
    """How many findings a small model is asked for in one reply; 0 without aids.

    More findings would repeat each other. If a statement has a number that its quote does not
    have, the quote replaces it.
    """
    return FEW_FINDINGS if context.assists("reader") else 0


def searches_first(context: Context) -> bool:
    """Whether to search even if all documents fit: a small model reads few pages better."""
    return context.assists("reader")


def use_only_tool(tools: Sequence[Tool], state: WorkingMemory, context: Context) -> Action | None:
    """Send the task or the question itself to the source, if there is only one.

    The query writer turns it into a query, or it is searched for in the documents. A search in the
    words of a small model finds other pages than the question does.
    """
    if not context.assists("selector") or len(tools) != 1 or tools[0] not in SOURCES:
        return None
    asked = state.get("task") or state["question"]
    return Action(step=state["step"], thought="", tool=tools[0], input=asked)


def extra_temperature(repetitions: int, role: str, context: Context) -> float:
    """What to add to the temperature of a role that repeats itself.

    At temperature 0 a small model repeats itself forever.
    """
    return _TEMPERATURE_PER_REPETITION * repetitions if context.assists(role) else 0.0


def max_reply_tokens(needed: int, role: str, context: Context) -> int:
    """The most tokens of a reply: the user's setting, or what the form of the reply needs.

    A small model may repeat itself without end, so it gets no more than the default.
    """
    if context.max_reply_tokens or context.assists(role):
        return context.reply_tokens
    return max(context.reply_tokens, needed)


def hide_guesses(state: WorkingMemory, context: Context) -> WorkingMemory:
    """Hide the thoughts before calculations, which small models repeat."""
    if not context.assists("answering_machine"):
        return state
    turns = [t | {"thought": ""} if t["tool"] == "calculator" else t for t in state["turns"]]
    return {**state, "turns": turns}


def repeat_task(state: WorkingMemory, family: TaskFamily, context: Context) -> str:
    """Repeat the task after the texts of a draft.

    Small models copy the program or plan of a text if their own task is a page away.
    """
    if family == "answer" or not context.assists("finisher"):
        return ""
    return load("rat/task_again").fill(question=state["question"])


def put_untried_first(
    possible: Sequence[str], state: WorkingMemory, role: str, context: Context
) -> Sequence[str]:
    """Put the rarest of the possible actions first, and leave out those that rest.

    Small models choose the first one. An action that only showed the same again rests for a while,
    longer each time, unless there is no other.
    """
    if not context.assists(role):
        return possible
    done = _actions_and_outcomes(state)
    counts, resting = Counter(action for action, _ in done), _find_resting(done)
    left = [action for action in possible if _normalise(action) not in resting] or possible
    return sorted(left, key=lambda action: counts[_normalise(action)])


def warn_if_stuck(state: WorkingMemory, role: str, context: Context) -> str:
    """Warn that the last action in an environment showed nothing new; empty if it did."""
    if not count_stuck_turns(state) or not context.assists(role):
        return ""
    return load("environments/stuck").fill()


def count_stuck_turns(state: WorkingMemory) -> int:
    """Count the last turns that repeated an earlier action with the same outcome."""
    done, count = _actions_and_outcomes(state), 0
    while done and done.pop() in done:
        count += 1
    return count


def _find_resting(done: Sequence[tuple[str, str]]) -> set[str]:
    """Actions with the same outcome n > 1 times, until 2n other actions follow."""
    since = {one: len(done) - number for number, one in enumerate(done)}
    return {one[0] for one, count in Counter(done).items() if count > 1 and since[one] <= 2 * count}


def _normalise(action: str) -> str:
    """An action without differences in case, spaces or a last semicolon."""
    return normalise(action).casefold()


def _actions_and_outcomes(state: WorkingMemory) -> list[tuple[str, str]]:
    """The action and the outcome of each turn."""
    return [(_normalise(turn["input"]), _outcome_text(state, turn)) for turn in state["turns"]]


def _outcome_text(state: WorkingMemory, turn: Turn) -> str:
    """The facts of a turn as text, or else its problem."""
    shown = [state["facts"][number - 1]["text"] for number in turn["facts"]]
    return " ".join(shown) or turn["problem"]
