"""Environment: carries out the chosen action in the task's environment."""

from time import perf_counter

from langgraph.runtime import Runtime

from planweave import BadInput
from planweave.memory import Context, EpisodeState, Found, WorkingMemory
from planweave.nodes.support.turns import chosen_action, turn_taken
from planweave.prompts import load, names
from planweave.texts import shorten
from planweave.tools.environments import EnvironmentFailed, Task
from planweave.tools.environments.episodes import Episode, admissible, find_task, observe

_EMPTY_VIEW = "(nothing is seen)"
_MAX_LISTED = 60


def environment(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Carry out ``action.input``; its observation becomes a fact, a crash becomes a problem.

    Unlike a query, an action may be repeated: it may have a new effect.
    """
    context, action = runtime.context, chosen_action(state)
    episode, state_before = episode_of(context), state["episode"]
    if state_before is None:
        raise RuntimeError("The environment node runs only after intake began its task.")
    started = perf_counter()
    try:
        seen = observe(episode, [*actions_done(state), action["input"]])
    except EnvironmentFailed as error:
        return turn_taken(state, [], str(error), perf_counter() - started)
    text = shorten(seen.text, context.observation_characters) or _EMPTY_VIEW
    found = [Found(text=text, values={}, quote=None)]
    update = turn_taken(state, found, "", perf_counter() - started)
    after: EpisodeState = {**state_before, "score": seen.score, "done": seen.done}
    return update | {"episode": after}


def episode_of(context: Context) -> Episode:
    """The episode that the context names."""
    if not (context.environment and context.environment_task):
        raise BadInput(
            "There is no task to act on.",
            fix="Give `environment`, `environment_data` and `environment_task` in the run's "
            "context; on the command line, use `planweave act`.",
        )
    return Episode(context.environment, context.environment_data or "", context.environment_task)


def find_task_to_solve(context: Context) -> Task | None:
    """The task that the context names, if it names an environment."""
    return find_task(episode_of(context)) if context.environment else None


def new_episode(task: Task | None, context: Context) -> EpisodeState | None:
    """The first trial of a task, before any action."""
    if task is None or context.environment is None:
        return None
    name = context.environment
    return EpisodeState(environment=name, task=task.id, trial=1, score=0.0, done=False)


def describe_scene(context: Context) -> str:
    """The first observation of the environment, after the list of actions if it is one of ours."""
    shown = shorten(observe(episode_of(context), ()).text, context.schema_characters)
    prompt = f"environments/{context.environment}"
    actions = load(prompt).fill() if prompt in names() else ""
    return f"{actions}\n\n{shown}".strip()


def actions_done(state: WorkingMemory) -> list[str]:
    """The actions of this trial, in order, without those on which the environment crashed."""
    return [
        turn["input"] for turn in state["turns"] if turn["tool"] == "environment" and turn["facts"]
    ]


def possible_actions(state: WorkingMemory, context: Context) -> tuple[str, ...]:
    """The actions that are possible now; empty if the list is unknown or too long to show."""
    try:
        possible = admissible(episode_of(context), actions_done(state))
    except EnvironmentFailed:
        return ()
    return possible if len(possible) <= _MAX_LISTED else ()
