"""Working memory as text for a prompt, longest-lived parts first."""

from memory import Context, Turn, WorkingMemory
from nodes.turns import same
from prompts import load

_SHORTENED = 160


def ground(state: WorkingMemory, context: Context) -> str:
    """The part of every prompt that stays the same for a whole run."""
    return load("common/ground").fill(
        question=state["question"],
        rules=context.rules.strip() or "(none given)",
        schema=state["schema_text"],
    )


def briefing(state: WorkingMemory, context: Context) -> str:
    """Plan and work so far; observations are shortened, oldest first, to fit the limit.

    Repetitions are left out: what a prompt shows often, a small model writes again.
    """
    budget = context.memory_characters
    newest_first = []
    for turn in reversed(_first_of_their_kind(state["turns"])):
        text = _turn_text(turn, state)
        if len(text) > budget:
            text = _turn_text(turn, state, limit=_SHORTENED)
        budget -= len(text)
        newest_first.append(text)
    return load("common/memory").fill(
        plan=plan_text(state.get("plan", [])) or "(no plan)",
        work="\n\n".join(reversed(newest_first)) or "(nothing yet)",
    )


def plan_text(plan: list[str]) -> str:
    """The plan as numbered lines."""
    return "\n".join(f"{number}. {step}" for number, step in enumerate(plan, start=1))


def _first_of_their_kind(turns: list[Turn]) -> list[Turn]:
    kinds: dict[tuple[str, str], Turn] = {}
    for turn in turns:
        kinds.setdefault((turn["tool"], same(turn["input"])), turn)
    return list(kinds.values())


def _turn_text(turn: Turn, state: WorkingMemory, limit: int | None = None) -> str:
    lines = [f"Thought: {turn['thought']}", f"{turn['tool']}: {turn['input']}"]
    lines += [f"Fact [{number}]: {state['facts'][number - 1]['text']}" for number in turn["facts"]]
    if turn["problem"]:
        lines.append(f"Problem: {turn['problem']}")
    return "\n".join(line if limit is None else _shorten(line, limit) for line in lines)


def _shorten(line: str, limit: int) -> str:
    return line if len(line) <= limit else f"{line[:limit]} … (shortened)"
