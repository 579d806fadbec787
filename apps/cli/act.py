"""``planweave act``: a task of an environment, action by action."""

from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from planweave import BadInput
from planweave.apps import completion
from planweave.apps.cli.asking import (
    LimitOptions,
    ModelOptions,
    ThreadOptions,
    refuse_ignored_options,
    start_thread,
)
from planweave.apps.cli.groups import grouped
from planweave.apps.options import Agents, context_of, resolved
from planweave.tools.environments import ENVIRONMENTS, open_environment
from planweave.tools.environments.episodes import close_all
from planweave.tools.result_text import one_line

EXAMPLES = """\
planweave act hotpotqa --data hotpot_dev_distractor_v1.json

planweave act webshop --data webshop/ --task 7 --paths solved.jsonl
"""

_MAX_LISTED = 20


@dataclass(frozen=True, kw_only=True)
class ActModelOptions(ModelOptions):
    """The options of a question, but with a fixed default method."""

    method: Annotated[
        str, typer.Option(help="See `planweave methods`.", autocompletion=completion.methods)
    ] = "instructrag"


@grouped(max_iterations=30)
def act(
    given: typer.Context,
    environment: Annotated[str, typer.Argument(help=f"One of {', '.join(ENVIRONMENTS)}.")] = "",
    *,
    data: Annotated[Path | None, typer.Option(help="File or folder of its tasks.")] = None,
    task: Annotated[str, typer.Option(help="Id of the task; tasks are listed if unset.")] = "",
    split: Annotated[str, typer.Option(help="Split of the listed tasks.")] = "",
    models: ActModelOptions,
    paths: Annotated[
        Path | None,
        typer.Option(help="File of successful paths; the owner's experience if unset."),
    ] = None,
    owner: Annotated[str, typer.Option(help="Owner of the experience.")] = "local",
    agents: Agents = "shipped",
    trials: Annotated[int, typer.Option(help="Attempts at the task (reflexion).")] = 3,
    limits: LimitOptions,
    thread_options: ThreadOptions,
) -> None:
    """Solve a task of an environment, action by action (docs/environments.md)."""
    from planweave.apps.cli.answering import answer
    from planweave.apps.threads import load_thread
    from planweave.nodes.acting.environment import find_task_to_solve

    if (thread := thread_options.resume) is not None:
        refuse_ignored_options(given)
        answer(given, thread_options, load_thread(thread, {}), None)
        return
    if environment and not task:
        _list_tasks(environment, data, split)
        return
    settings = {
        "environment": environment,
        "environment_data": str(data.resolve()) if data else None,
        "environment_task": task,
        "paths": str(paths.resolve()) if paths else None,
        "owner": owner,
        "agents": resolved(agents),
        "trials": trials,
        **limits.settings(given),
    }
    task_to_do = find_task_to_solve(context_of(settings))
    if task_to_do is None:
        raise BadInput("No environment is named.", fix=f"Name one of {', '.join(ENVIRONMENTS)}.")
    try:
        start_thread(given, thread_options, task_to_do.question, settings, models)
    finally:
        close_all()


def _list_tasks(environment: str, data: Path | None, split: str) -> None:
    with open_environment(environment, data) as world:
        tasks = world.tasks(split)
        for task in map(world.described, islice(tasks, _MAX_LISTED)):
            typer.echo(one_line(f"{task.id}  {task.kind}  {task.question}"))
    if len(tasks) > _MAX_LISTED:
        typer.echo(f"… and {len(tasks) - _MAX_LISTED} more")
