"""Aids in how a model is asked: what it may choose, what it is shown, how warm and how long."""

from collections import Counter
from collections.abc import Sequence

from planweave.memory import Action, Context, TaskFamily, Tool, Turn, WorkingMemory
from planweave.nodes.support.turns import same
from planweave.prompts import load

_PER_REPETITION = 0.4
_SOURCES = ("sql", "cypher", "documents")
_QUERY_WRITER = "query_writer"
FEW_FINDINGS = 3


def writes_queries(context: Context) -> bool:
    """Whether queries are corrected, and needs in words become queries (``query_writer``)."""
    return context.assists(_QUERY_WRITER)


def answers_in_rows(context: Context) -> bool:
    """Whether the rows of a query may be the answer, without a model that says them again."""
    return context.assists("answering_machine")


def few_findings(context: Context) -> int:
    """How many findings a small model is asked for in one reply, where more would repeat; else 0.

    Where its statement says a number that its quote does not, the quote is taken in its place.
    """
    return FEW_FINDINGS if context.assists("reader") else 0


def searches_first(context: Context) -> bool:
    """Whether documents are searched even where all would fit: a small model reads a few better."""
    return context.assists("reader")


def only_tool(tools: Sequence[Tool], state: WorkingMemory, context: Context) -> Action | None:
    """The task or the question itself, where one source is all there is to choose.

    The query writer makes a query of it, and documents are searched and read for it: the words of
    a small model find other pages than the question does.
    """
    if not context.assists("selector") or len(tools) != 1 or tools[0] not in _SOURCES:
        return None
    asked = state.get("task") or state["question"]
    return Action(step=state["step"], thought="", tool=tools[0], input=asked)


def extra_temperature(repetitions: int, role: str, context: Context) -> float:
    """What is added to the temperature of a role that repeats itself.

    At temperature 0 a small model repeats itself for ever.
    """
    return _PER_REPETITION * repetitions if context.assists(role) else 0.0


def reply_ceiling(needed: int, role: str, context: Context) -> int:
    """Tokens of a reply at most where the user has set none: what its form needs.

    A small model, which may repeat itself without end, gets the fewest.
    """
    if context.max_reply_tokens or context.assists(role):
        return context.reply_tokens
    return max(context.reply_tokens, needed)


def without_guesses(state: WorkingMemory, context: Context) -> WorkingMemory:
    """Working memory without the thoughts before calculations, which small models repeat."""
    if not context.assists("answering_machine"):
        return state
    turns = [t | {"thought": ""} if t["tool"] == "calculator" else t for t in state["turns"]]
    return {**state, "turns": turns}


def task_again(state: WorkingMemory, family: TaskFamily, context: Context) -> str:
    """The task once more behind the texts of a draft, or nothing.

    Small models copy the program or plan of a text where their own task is a page away.
    """
    if family == "answer" or not context.assists("finisher"):
        return ""
    return load("rat/task_again").fill(question=state["question"])


def untried_first(
    possible: Sequence[str], state: WorkingMemory, role: str, context: Context
) -> Sequence[str]:
    """The possible actions of an environment, the rarest first and without those that rest.

    Small models take what is first. An action that showed only what it had shown before rests for
    a while, the longer the more often it did, unless there is nothing else.
    """
    if not context.assists(role):
        return possible
    done = _done(state)
    counts, resting = Counter(action for action, _ in done), _resting(done)
    left = [action for action in possible if _compared(action) not in resting] or possible
    return sorted(left, key=lambda action: counts[_compared(action)])


def reminder(state: WorkingMemory, role: str, context: Context) -> str:
    """That the last action in an environment showed nothing new, or nothing."""
    if not times_stuck(state) or not context.assists(role):
        return ""
    return load("environments/stuck").fill()


def times_stuck(state: WorkingMemory) -> int:
    """How many of the last turns did what was done before, and showed what it showed then."""
    done, count = _done(state), 0
    while done and done.pop() in done:
        count += 1
    return count


def _resting(done: Sequence[tuple[str, str]]) -> set[str]:
    """Actions that showed the same n > 1 times, until 2n others were done."""
    since = {one: len(done) - number for number, one in enumerate(done)}
    return {one[0] for one, count in Counter(done).items() if count > 1 and since[one] <= 2 * count}


def _compared(action: str) -> str:
    """An action without what makes no difference."""
    return same(action).casefold()


def _done(state: WorkingMemory) -> list[tuple[str, str]]:
    """What was done, turn by turn, and what each turn showed."""
    return [(_compared(turn["input"]), _outcome(state, turn)) for turn in state["turns"]]


def _outcome(state: WorkingMemory, turn: Turn) -> str:
    """What a turn showed; its problem if it showed nothing."""
    shown = [state["facts"][number - 1]["text"] for number in turn["facts"]]
    return " ".join(shown) or turn["problem"]
