"""Asks a person on the terminal whether a plan may be carried out."""

import sys
from typing import Any

import click
import typer
from rich.console import Console

from planweave import PlanweaveError


class ApprovalNeeded(PlanweaveError):
    """A person has to decide, and nobody is at the terminal."""

    exit_code = 5


def approver(console: Console, thread: str) -> Any:
    """Make the function that asks; without a terminal it stops the run so that it can be resumed.

    Returns:
        A function from the interrupt's request to the decisions that resume it.
    """

    def ask(request: dict[str, Any]) -> dict[str, Any]:
        if not sys.stdin.isatty():
            raise ApprovalNeeded(
                "The plan waits for approval, and there is no terminal to ask at.",
                mend=f"Run `planweave decide --resume {thread}` in a terminal.",
            )
        console.print(request["action_requests"][0]["description"], markup=False)
        choice = typer.prompt(
            "approve, edit or reject", type=click.Choice(["approve", "edit", "reject"])
        )
        return {"decisions": [_decision(choice, request["action_requests"][0]["args"]["plan"])]}

    return ask


def _decision(choice: str, plan: list[str]) -> dict[str, Any]:
    if choice == "edit":
        text = click.edit("\n".join(plan))
        steps = [line.strip() for line in (text or "").splitlines() if line.strip()] or plan
        action = {"name": "carry_out_plan", "args": {"plan": steps}}
        return {"type": "edit", "edited_action": action}
    if choice == "reject":
        return {"type": "reject", "message": typer.prompt("What should be different?")}
    return {"type": "approve"}
