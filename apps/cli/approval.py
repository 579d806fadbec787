"""Asks a person on the terminal whether a plan, or the call of a tool, may be carried out."""

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
    """A person has to decide, and nobody is at the terminal."""

    exit_code = 5


def approver(
    console: Console, thread: str, command: str = "decide"
) -> Callable[[Mapping[str, Any]], Decisions]:
    """The function that asks; without a terminal it stops the run so that it can be resumed."""

    def ask(request: Mapping[str, Any]) -> Decisions:
        asked = request["action_requests"][0]
        if not sys.stdin.isatty():
            what = "The plan" if asked["name"] == _PLAN else f"A call of {asked['name']}"
            raise ApprovalNeeded(
                f"{what} waits for approval, and there is no terminal to ask at.",
                fix=f"Run `planweave {command} --resume {thread}` in a terminal.",
            )
        console.print(plain(asked["description"]), markup=False)
        return {"decisions": [_decision(asked, console)]}

    return ask


def _decision(asked: Mapping[str, Any], console: Console) -> dict[str, Any]:
    """What a person decides by one key."""
    while True:
        console.print("(a)pprove, (e)dit or (r)eject? ", end="", markup=False)
        choice = _KEYS.get(click.getchar().lower(), "")
        console.print(choice or "?")
        if choice == "approve":
            return {"type": "approve"}
        if choice == "reject":
            return {"type": "reject", "message": Prompt.ask("What should differ", console=console)}
        if choice == "edit" and (edited := _edited(asked, console)):
            return {"type": "edit", "edited_action": {"name": asked["name"], "args": edited}}


def _edited(asked: Mapping[str, Any], console: Console) -> dict[str, Any] | None:
    """The arguments as a person has changed them in ``$EDITOR``; None if they were left alone.

    A plan is one step a line, everything else JSON.
    """
    given = asked["args"]
    is_plan = asked["name"] == _PLAN
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
        console.print(f"That is no JSON object ({error}).", markup=False)
        return None
    if isinstance(changed, dict):
        return changed
    console.print("That is no JSON object.")
    return None
