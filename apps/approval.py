"""Asks a person on the terminal whether a plan may be carried out."""

import sys
from typing import Any

from rich.console import Console
from rich.prompt import Prompt

from planweave import PlanweaveError
from planweave.apps.plain import plain


class ApprovalNeeded(PlanweaveError):
    """A person has to decide, and nobody is at the terminal."""

    exit_code = 5


def approver(console: Console, thread: str, command: str = "decide") -> Any:
    """Make the function that asks; without a terminal it stops the run so that it can be resumed.

    Returns:
        A function from the interrupt's request to the decisions that resume it.
    """

    def ask(request: dict[str, Any]) -> dict[str, Any]:
        if not sys.stdin.isatty():
            raise ApprovalNeeded(
                "The plan waits for approval, and there is no terminal to ask at.",
                mend=f"Run `planweave {command} --resume {thread}` in a terminal.",
            )
        asked = request["action_requests"][0]
        console.print(plain(asked["description"]), markup=False)
        choices = ["approve", "edit", "reject"]
        choice = Prompt.ask("Your decision", console=console, choices=choices)
        return {"decisions": [_decision(choice, console)]}

    return ask


def _decision(choice: str, console: Console) -> dict[str, Any]:
    if choice == "edit":
        console.print("Write the plan, one step a line; an empty line ends it.")
        steps = list(iter(lambda: console.input("  ").strip(), ""))
        action = {"name": "carry_out_plan", "args": {"plan": steps}}
        return {"type": "edit", "edited_action": action}
    if choice == "reject":
        return {"type": "reject", "message": Prompt.ask("What should differ", console=console)}
    return {"type": "approve"}
