"""The questions asked on the edges that several methods share; each answer names an edge."""

from typing import Literal, cast

from langgraph.runtime import Runtime, get_runtime
from langgraph.types import Send

from planweave.memory import BOUND_TOOL, OWN_TOOLS, Context, Tool, WorkingMemory
from planweave.nodes.deciding.path_follower import followed
from planweave.nodes.documents.whole_collection import is_read_whole
from planweave.nodes.support.limits import budget_spent, reason_to_answer
from planweave.nodes.support.turns import chosen_action, first_error, one_of_several

RECURSION_LIMIT = 1_500
"""Super-steps a run may take: above what the largest ``Context.max_iterations`` needs."""


def run_context() -> Context:
    """The context of the run; where a person edits a state, LangGraph names none: the defaults."""
    runtime = cast("Runtime[Context] | None", get_runtime(Context))
    return runtime.context if runtime else Context()


def beginning(state: WorkingMemory) -> Literal["greeting", "no_plan", "predefined_plan"]:
    """How a run starts: a greeting is only answered, a predefined plan needs no planner."""
    if state["greeting"]:
        return "greeting"
    return "predefined_plan" if state["plan"] else "no_plan"


def starting(state: WorkingMemory) -> Literal["greeting", "read", "no_plan", "predefined_plan"]:
    """As :func:`beginning`, for methods of one action: what is read whole needs no search."""
    only_documents = [*state["languages"]] == ["documents"]
    return "read" if state.get("whole") and only_documents else beginning(state)


def asked(state: WorkingMemory) -> Literal["greeting", "first_question", "follow_up"]:
    """What the message is; earlier questions may tell what a further one means."""
    if state["greeting"]:
        return "greeting"
    return "follow_up" if state["history"] else "first_question"


def asked_of_documents(
    state: WorkingMemory,
) -> Literal["greeting", "whole", "first_question", "follow_up"]:
    """As :func:`asked`, where a first question may be answered from a whole collection."""
    choice = asked(state)
    whole = choice == "first_question" and is_read_whole(run_context())
    return "whole" if whole else choice


def reading(_: WorkingMemory) -> Literal["whole", "by_search"]:
    """Whether the collection is read whole before the method begins."""
    return "whole" if is_read_whole(run_context()) else "by_search"


def approval(state: WorkingMemory) -> Literal["approved", "rejected"]:
    """Whether a person sent the plan back to the planner."""
    return "rejected" if state["replanning"] else "approved"


def start(state: WorkingMemory) -> Literal["acting", "approved", "rejected"]:
    """As :func:`approval`, but an approved plan may hold its first actions."""
    if approval(state) == "rejected":
        return "rejected"
    return "acting" if state["actions"] else "approved"


def choice(state: WorkingMemory) -> Literal["acting", "replan", "finish", "unreadable"]:
    """What the selector chose; ``unreadable`` if its reply was."""
    if state["action"] is None:
        return "unreadable"
    match state["action"]["tool"]:
        case "replan":
            return "replan"
        case "finish":
            return "finish"
    return "acting"


def at_once(state: WorkingMemory) -> list[Send] | str:
    """The node of the chosen tool, or the nodes of all actions that are carried out at once."""
    if not one_of_several(state):
        return _node_of(chosen_action(state)["tool"])
    return [
        Send(_node_of(action["tool"]), {**state, "action": action}) for action in state["actions"]
    ]


def _node_of(tool: Tool) -> str:
    return tool if tool in OWN_TOOLS else BOUND_TOOL


def doubt(state: WorkingMemory) -> Literal["doubtful", "sound"]:
    """Whether the plan is judged or written again: by the context's policy; a given plan stays."""
    if state["given_plan"]:
        return "sound"
    always = run_context().replan == "every_observation"
    return "doubtful" if always or state["replanning"] else "sound"


def progress(state: WorkingMemory) -> Literal["doubtful", "sound"]:
    """As :func:`doubt`, but a learned path is followed as long as its steps succeed.

    Where one prompt says everything, it judges the plan itself. A query that failed says little
    about the plan: the selector corrects it once, with the error, before the plan is judged.
    """
    context = run_context()
    corrects = context.combines("selector") and first_error(state)
    return "sound" if followed(state) or context.in_one_prompt or corrects else doubt(state)


def following(state: WorkingMemory) -> Literal["followed", "ended"]:
    """Whether there is a learned path, and all its steps so far have succeeded."""
    return "followed" if followed(state) else "ended"


def revision(state: WorkingMemory) -> Literal["doubtful", "sound"]:
    """As :func:`doubt`, but at a limit no plan is needed any more."""
    return "sound" if reason_to_answer(state, run_context()) else doubt(state)


def review(state: WorkingMemory) -> Literal["to_evaluate", "accepted"]:
    """Whether the evaluator sees the plan: as often as the context allows it to reject one."""
    return "to_evaluate" if state["rejections"] < run_context().evaluations else "accepted"


def evaluated(state: WorkingMemory) -> Literal["accepted", "rejected"]:
    """The evaluator's verdict."""
    return "rejected" if state["objection"] else "accepted"


def answered(state: WorkingMemory) -> Literal["answered", "going_on"]:
    """Whether the answering machine has terminated."""
    return "answered" if state["answer"] else "going_on"


def proposing(state: WorkingMemory) -> Literal["answered", "at_a_limit", "proposing"]:
    """Whether the reasoner has answered, must be answered for, or wants to know more."""
    if state["answer"]:
        return "answered"
    return "at_a_limit" if reason_to_answer(state, run_context()) else "proposing"


def found_new(state: WorkingMemory) -> Literal["new", "repeated"]:
    """Whether any proposed query is a new one."""
    return "new" if state["candidate_queries"] else "repeated"


def thinking_on(state: WorkingMemory) -> Literal["answered", "chain_ends", "searching"]:
    """Whether the chain of thought has come to an answer, to an end, or needs more pages."""
    if state["answer"]:
        return "answered"
    return "searching" if state["action"] else "chain_ends"


def opening_task(
    state: WorkingMemory,
) -> Literal["task", "greeting", "no_plan", "predefined_plan"]:
    """How a run starts: with a task of an environment, or as :func:`beginning` says."""
    return "task" if state["episode"] else beginning(state)


def outcome(state: WorkingMemory) -> Literal["acted", "answered"]:
    """Whether a run ends with a task of an environment, or with an answer."""
    return "acted" if state["episode"] else "answered"


def acting(state: WorkingMemory) -> Literal["acting", "at_a_limit", "unreadable"]:
    """Whether the actor has chosen an action, may choose none any more, or was not understood."""
    if state["action"]:
        return "acting"
    return "at_a_limit" if reason_to_answer(state, run_context()) else "unreadable"


def over(state: WorkingMemory) -> Literal["over", "going_on"]:
    """Whether the environment says that the task is over."""
    return "over" if state["episode"] and state["episode"]["done"] else "going_on"


def trying(state: WorkingMemory) -> Literal["acting", "unreadable", "over", "to_reflect"]:
    """As :func:`acting`; a trial that has come to a limit may be followed by another."""
    choice = acting(state)
    return _trial_over(state, run_context()) if choice == "at_a_limit" else choice


def tried(state: WorkingMemory) -> Literal["going_on", "over", "to_reflect"]:
    """As :func:`over`; a trial that failed may be followed by another."""
    return "going_on" if over(state) == "going_on" else _trial_over(state, run_context())


def _trial_over(state: WorkingMemory, context: Context) -> Literal["over", "to_reflect"]:
    """Whether the trial was the last one: it solved the task, or no other may follow."""
    episode = state["episode"]
    if episode is None or episode["score"] == 1 or episode["trial"] >= context.trials:
        return "over"
    return "over" if budget_spent(state, context) else "to_reflect"
