"""Ask a person on the terminal to approve a plan or a tool call."""

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

import click
from rich.console import Console
from rich.prompt import Prompt

from planweave import PlanweaveError
from planweave.apps.plain import plain
from planweave.apps.run import Decisions

_KEYS = {"a": "approve", "e": "edit", "r": "reject"}
_PLAN = "carry_out_plan"


class ApprovalNeeded(PlanweaveError):
    """A person has to decide, but there is no terminal."""

    exit_code = 5


def approver(
    console: Console, thread: str, command: str = "decide"
) -> Callable[[Mapping[str, Any]], Decisions]:
    """Make the function that asks; without a terminal, it stops the run, which can be resumed."""

    def ask(request: Mapping[str, Any]) -> Decisions:
        action = request["action_requests"][0]
        if not sys.stdin.isatty():
            what = "The plan" if action["name"] == _PLAN else f"A call of {action['name']}"
            raise ApprovalNeeded(
                f"{what} waits for approval, but there is no terminal.",
                fix=f"Run `planweave {command} --resume {thread}` in a terminal.",
            )
        console.print(plain(action["description"]), markup=False)
        return {"decisions": [_ask_decision(action, console)]}

    return ask


def _ask_decision(action: Mapping[str, Any], console: Console) -> dict[str, Any]:
    """Ask for a decision by one key."""
    while True:
        console.print("(a)pprove, (e)dit or (r)eject? ", end="", markup=False)
        choice = _KEYS.get(click.getchar().lower(), "")
        console.print(choice or "?")
        if choice == "approve":
            return {"type": "approve"}
        if choice == "reject":
            return {"type": "reject", "message": Prompt.ask("What should change", console=console)}
        if choice == "edit" and (edited := _edit_arguments(action, console)):
            return {"type": "edit", "edited_action": {"name": action["name"], "args": edited}}


def _edit_arguments(action: Mapping[str, Any], console: Console) -> dict[str, Any] | None:
    """Let a person edit the arguments in ``$EDITOR``; None if they did not change them.

    A plan has one step a line; other arguments are JSON.
    """
    given = action["args"]
    is_plan = action["name"] == _PLAN
    before = "\n".join(given["plan"]) if is_plan else json.dumps(given, indent=2)
    after = click.edit(f"{before}\n", extension=".txt" if is_plan else ".json")
    if after is None or not after.strip():
        console.print("Nothing was changed.")
        return None
    if is_plan:
        return {"plan": [line.strip() for line in after.splitlines() if line.strip()]}
    try:
        changed = json.loads(after)
    except (ValueError, RecursionError) as error:
        console.print(f"That is not a JSON object ({error}).", markup=False)
        return None
    if isinstance(changed, dict):
        return changed
    console.print("That is not a JSON object.")
    return None
