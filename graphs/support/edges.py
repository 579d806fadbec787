"""The routing functions that several methods share; each returns the name of an edge."""

from typing import Literal, cast

from langgraph.runtime import Runtime, get_runtime
from langgraph.types import Send

from planweave.memory import BOUND_TOOL, OWN_TOOLS, Context, Tool, WorkingMemory
from planweave.nodes.deciding.path_follower import is_following
from planweave.nodes.documents.whole_collection import is_read_whole
from planweave.nodes.support.limits import budget_spent, reason_to_answer
from planweave.nodes.support.turns import chosen_action, is_first_error, is_parallel

RECURSION_LIMIT = 1_500
"""Super-steps that a run may take; the largest ``Context.max_iterations`` needs fewer."""


def run_context() -> Context:
    """The context of the run; the defaults if LangGraph has none, such as for edits of a state."""
    runtime = cast("Runtime[Context] | None", get_runtime(Context))
    return runtime.context if runtime else Context()


def route_question(state: WorkingMemory) -> Literal["greeting", "no_plan", "predefined_plan"]:
    """Route the start of a run: a greeting ends it, a predefined plan needs no planner."""
    if state["greeting"]:
        return "greeting"
    return "predefined_plan" if state["plan"] else "no_plan"


def route_question_or_read(
    state: WorkingMemory,
) -> Literal["greeting", "read", "no_plan", "predefined_plan"]:
    """As :func:`route_question`, but a collection that was read whole needs no search."""
    only_documents = [*state["languages"]] == ["documents"]
    return "read" if state.get("whole") and only_documents else route_question(state)


def route_message(state: WorkingMemory) -> Literal["greeting", "first_question", "follow_up"]:
    """Route by the kind of message; a follow-up question is interpreted first."""
    if state["greeting"]:
        return "greeting"
    return "follow_up" if state["history"] else "first_question"


def route_message_or_whole(
    state: WorkingMemory,
) -> Literal["greeting", "whole", "first_question", "follow_up"]:
    """As :func:`route_message`, but a first question may have the collection read whole."""
    choice = route_message(state)
    whole = choice == "first_question" and is_read_whole(run_context())
    return "whole" if whole else choice


def route_reading(_: WorkingMemory) -> Literal["whole", "by_search"]:
    """Route to the reading of the whole collection, or to search."""
    return "whole" if is_read_whole(run_context()) else "by_search"


def route_approval(state: WorkingMemory) -> Literal["approved", "rejected"]:
    """Route a plan that a person has approved or rejected."""
    return "rejected" if state["replanning"] else "approved"


def route_approved_plan(state: WorkingMemory) -> Literal["acting", "approved", "rejected"]:
    """As :func:`route_approval`, but an approved plan may hold its first actions."""
    if route_approval(state) == "rejected":
        return "rejected"
    return "acting" if state["actions"] else "approved"


def route_choice(state: WorkingMemory) -> Literal["acting", "replan", "finish", "unreadable"]:
    """Route the selector's choice; ``unreadable`` if its reply was."""
    if state["action"] is None:
        return "unreadable"
    match state["action"]["tool"]:
        case "replan":
            return "replan"
        case "finish":
            return "finish"
    return "acting"


def route_to_tools(state: WorkingMemory) -> list[Send] | str:
    """Route to the chosen tool, or to the tools of all parallel actions."""
    if not is_parallel(state):
        return _get_node(chosen_action(state)["tool"])
    return [
        Send(_get_node(action["tool"]), {**state, "action": action}) for action in state["actions"]
    ]


def _get_node(tool: Tool) -> str:
    return tool if tool in OWN_TOOLS else BOUND_TOOL


def route_doubt(state: WorkingMemory) -> Literal["doubtful", "sound"]:
    """Route by whether the plan needs a review, by ``Context.replan``; a given plan stays."""
    if state["given_plan"]:
        return "sound"
    always = run_context().replan == "every_observation"
    return "doubtful" if always or state["replanning"] else "sound"


def route_progress(state: WorkingMemory) -> Literal["doubtful", "sound"]:
    """As :func:`route_doubt`, but not while the run follows a learned path.

    A method with one prompt judges its plan in that prompt. A failed query shows little about the
    plan: the selector gets the error and corrects the query once before the plan is judged.
    """
    context = run_context()
    corrects = context.combines("selector") and is_first_error(state)
    return (
        "sound" if is_following(state) or context.in_one_prompt or corrects else route_doubt(state)
    )


def route_learned_path(state: WorkingMemory) -> Literal["followed", "ended"]:
    """Route by whether there is a learned path and all its steps so far have succeeded."""
    return "followed" if is_following(state) else "ended"


def route_revision(state: WorkingMemory) -> Literal["doubtful", "sound"]:
    """As :func:`route_doubt`, but at a limit the run needs no plan."""
    return "sound" if reason_to_answer(state, run_context()) else route_doubt(state)


def route_review(state: WorkingMemory) -> Literal["to_evaluate", "accepted"]:
    """Route to the evaluator as often as ``Context.evaluations`` allows it to reject a plan."""
    return "to_evaluate" if state["rejections"] < run_context().evaluations else "accepted"


def route_evaluation(state: WorkingMemory) -> Literal["accepted", "rejected"]:
    """Route by the evaluator's verdict."""
    return "rejected" if state["objection"] else "accepted"


def route_answer(state: WorkingMemory) -> Literal["answered", "going_on"]:
    """Route by whether the answering machine has answered."""
    return "answered" if state["answer"] else "going_on"


def route_reasoning(state: WorkingMemory) -> Literal["answered", "at_a_limit", "proposing"]:
    """Route by whether the reasoner has answered, has reached a limit, or proposes queries."""
    if state["answer"]:
        return "answered"
    return "at_a_limit" if reason_to_answer(state, run_context()) else "proposing"


def route_new_queries(state: WorkingMemory) -> Literal["new", "repeated"]:
    """Route by whether any proposed query is new."""
    return "new" if state["candidate_queries"] else "repeated"


def route_thought(state: WorkingMemory) -> Literal["answered", "chain_ends", "searching"]:
    """Route by whether the chain of thought has an answer, has ended, or needs more pages."""
    if state["answer"]:
        return "answered"
    return "searching" if state["action"] else "chain_ends"


def route_task(
    state: WorkingMemory,
) -> Literal["task", "greeting", "no_plan", "predefined_plan"]:
    """Route a task of an environment; any other start as :func:`route_question`."""
    return "task" if state["episode"] else route_question(state)


def route_outcome(state: WorkingMemory) -> Literal["acted", "answered"]:
    """Route by whether the run has acted in an environment or has answered."""
    return "acted" if state["episode"] else "answered"


def route_action(state: WorkingMemory) -> Literal["acting", "at_a_limit", "unreadable"]:
    """Route by whether the actor chose an action, reached a limit, or sent an unreadable reply."""
    if state["action"]:
        return "acting"
    return "at_a_limit" if reason_to_answer(state, run_context()) else "unreadable"


def route_episode(state: WorkingMemory) -> Literal["over", "going_on"]:
    """Route by whether the environment reports that the task is over."""
    return "over" if state["episode"] and state["episode"]["done"] else "going_on"


def route_trial_action(
    state: WorkingMemory,
) -> Literal["acting", "unreadable", "over", "to_reflect"]:
    """As :func:`route_action`; another trial may follow one that reached a limit."""
    choice = route_action(state)
    return _route_trial_end(state, run_context()) if choice == "at_a_limit" else choice


def route_trial_episode(state: WorkingMemory) -> Literal["going_on", "over", "to_reflect"]:
    """As :func:`route_episode`; another trial may follow one that failed."""
    return (
        "going_on" if route_episode(state) == "going_on" else _route_trial_end(state, run_context())
    )


def _route_trial_end(state: WorkingMemory, context: Context) -> Literal["over", "to_reflect"]:
    """Route by whether this was the last trial: it solved the task, or no other may follow."""
    episode = state["episode"]
    if episode is None or episode["score"] == 1 or episode["trial"] >= context.trials:
        return "over"
    return "over" if budget_spent(state, context) else "to_reflect"
