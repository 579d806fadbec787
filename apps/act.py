"""``planweave act``: a task of an environment, action by action."""

from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from apps.answering import answer
from apps.options import (
    Agents,
    AsJson,
    MaxCalls,
    MaxDollars,
    MaxSeconds,
    MaxTokens,
    Method,
    Model,
    Resume,
    RoleModel,
    context_of,
    resolved,
    roles,
)
from apps.threads import Thread, load_thread, new_id
from graphs import method as method_module
from nodes.environment import task_to_solve
from planweave import BadInput
from tools.environments import ENVIRONMENTS, open_environment
from tools.environments.episodes import close_all
from tools.result_text import one_line

_LISTED = 20


def act(
    environment: Annotated[str, typer.Argument(help=f"One of {', '.join(ENVIRONMENTS)}.")] = "",
    *,
    data: Annotated[Path | None, typer.Option(help="File or folder of its tasks.")] = None,
    task: Annotated[str, typer.Option(help="Task by its id; tasks are listed without.")] = "",
    split: Annotated[str, typer.Option(help="Part of the tasks that are listed.")] = "",
    method: Method = "instructrag",
    paths: Annotated[
        Path | None, typer.Option(help="File of paths that worked; else the owner's experience.")
    ] = None,
    owner: Annotated[str, typer.Option(help="Whose experience is used.")] = "local",
    agents: Agents = "shipped",
    trials: Annotated[int, typer.Option(help="Attempts at the task (reflexion).")] = 3,
    model: Model = "embedded",
    role_model: RoleModel = None,
    max_iterations: Annotated[int, typer.Option(help="Actions at most.")] = 30,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    max_seconds: MaxSeconds = None,
    max_dollars: MaxDollars = None,
    resume: Resume = "",
    as_json: AsJson = False,
) -> None:
    """Solve a task of an environment, told as it happens; see docs/instruct-rag.md."""
    if resume:
        answer(load_thread(resume, {}), None, command="act", as_json=as_json)
        return
    if not task:
        _list(environment, data, split)
        return
    method_module(method)
    settings = {
        "environment": environment,
        "environment_data": str(data.resolve()) if data else None,
        "environment_task": task,
        "paths": str(paths.resolve()) if paths else None,
        "owner": owner,
        "agents": resolved(agents),
        "trials": trials,
        "model": model,
        "models": roles(role_model),
        "max_iterations": max_iterations,
        "max_calls": max_calls,
        "max_tokens": max_tokens,
        "max_seconds": max_seconds,
        "max_dollars": max_dollars,
    }
    thread = Thread(id=new_id(), method=method, context=context_of(settings))
    asked = task_to_solve(thread.context)
    if asked is None:
        raise BadInput(
            "There is no environment to act in.", mend="Name one: planweave act hotpotqa"
        )
    thread.save()
    try:
        answer(thread, {"question": asked.question}, command="act", as_json=as_json)
    finally:
        close_all()


def _list(environment: str, data: Path | None, split: str) -> None:
    with open_environment(environment, data) as world:
        tasks = world.tasks(split)
        for each in islice(tasks, _LISTED):
            typer.echo(one_line(f"{each.id}  {each.kind}  {each.question}"))
    if len(tasks) > _LISTED:
        typer.echo(f"… and {len(tasks) - _LISTED} more")
