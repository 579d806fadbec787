"""``planweave act``: a task of an environment, action by action."""

from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from planweave import BadInput
from planweave.apps import completion
from planweave.apps.cli.asking import LimitOptions, Players, Telling, begin, check_resumed
from planweave.apps.cli.groups import grouped
from planweave.apps.options import Agents, context_of, resolved
from planweave.tools.environments import ENVIRONMENTS, open_environment
from planweave.tools.environments.episodes import close_all
from planweave.tools.result_text import one_line

EXAMPLES = """\
planweave act hotpotqa --data hotpot_dev_distractor_v1.json

planweave act webshop --data webshop/ --task 7 --paths solved.jsonl
"""

_LISTED = 20


@dataclass(frozen=True, kw_only=True)
class Actors(Players):
    """As for a question, but one method is the default, whatever the model."""

    method: Annotated[
        str, typer.Option(help="See `planweave methods`.", autocompletion=completion.methods)
    ] = "instructrag"


@grouped(max_iterations=30)
def act(
    given: typer.Context,
    environment: Annotated[str, typer.Argument(help=f"One of {', '.join(ENVIRONMENTS)}.")] = "",
    *,
    data: Annotated[Path | None, typer.Option(help="File or folder of its tasks.")] = None,
    task: Annotated[str, typer.Option(help="Id of the task; if unset, tasks are listed.")] = "",
    split: Annotated[str, typer.Option(help="Part of the tasks that are listed.")] = "",
    players: Actors,
    paths: Annotated[
        Path | None,
        typer.Option(help="File of paths that worked; the owner's experience if unset."),
    ] = None,
    owner: Annotated[str, typer.Option(help="Whose experience is used.")] = "local",
    agents: Agents = "shipped",
    trials: Annotated[int, typer.Option(help="Attempts at the task (reflexion).")] = 3,
    limits: LimitOptions,
    telling: Telling,
) -> None:
    """Solve a task of an environment, action by action (docs/environments.md)."""
    from planweave.apps.cli.answering import answer
    from planweave.apps.threads import load_thread
    from planweave.nodes.acting.environment import find_task_to_solve

    if telling.resume:
        check_resumed(given)
        answer(load_thread(telling.resume, {}), None, command="act", as_json=telling.as_json)
        return
    if environment and not task:
        _list(environment, data, split)
        return
    settings = {
        "environment": environment,
        "environment_data": str(data.resolve()) if data else None,
        "environment_task": task,
        "paths": str(paths.resolve()) if paths else None,
        "owner": owner,
        "agents": resolved(agents),
        "trials": trials,
        **limits.settings(),
    }
    asked = find_task_to_solve(context_of(settings))
    if asked is None:
        raise BadInput("No environment is named.", fix=f"Name one of {', '.join(ENVIRONMENTS)}.")
    try:
        begin(asked.question, settings, players, command="act", as_json=telling.as_json)
    finally:
        close_all()


def _list(environment: str, data: Path | None, split: str) -> None:
    with open_environment(environment, data) as world:
        tasks = world.tasks(split)
        for each in map(world.described, islice(tasks, _LISTED)):
            typer.echo(one_line(f"{each.id}  {each.kind}  {each.question}"))
    if len(tasks) > _LISTED:
        typer.echo(f"… and {len(tasks) - _LISTED} more")
