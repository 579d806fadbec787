"""Re-planner: judges the plan by the last result and may replace it (PlanRAG, section 4)."""

from collections.abc import Sequence

from langgraph.runtime import Runtime

from planweave.memory import Context, Replan, Tool, WorkingMemory
from planweave.nodes.deciding.planner import start_plan
from planweave.nodes.support.limits import reason_to_answer
from planweave.nodes.support.replies import Judgement, JudgementWithNeeds, steps_of
from planweave.nodes.support.role import Node, ask_role, spent
from planweave.nodes.support.turns import take_turn
from planweave.prompts import load


def replanner(tools: Sequence[Tool]) -> Node:
    """Make the re-planner; ``tools`` are those of the steps of a new plan."""

    async def replanner(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
        asked = _turn_of_request(state)
        state = {**state, "iteration": asked.get("iteration", state["iteration"])}
        if reason_to_answer(state, runtime.context):
            return asked
        combines = runtime.context.combines("replanner")
        form: type[Judgement | JudgementWithNeeds] = JudgementWithNeeds if combines else Judgement
        occasion = asked.get("replanning", state["replanning"])
        prompt = "planrag/judge_task" if combines else "planrag/replanner"
        task = load(prompt).fill(occasion=occasion)
        reply = await ask_role(
            "replanner", form, task, state, runtime, tools=tools if combines else ()
        )
        update = asked | {"replanning": "", **spent(reply)}
        judgement = reply.value
        steps, needs = steps_of(judgement.steps if judgement else [])
        if judgement is None or judgement.replan == "N" or not steps:
            return update
        change = Replan(
            iteration=state["iteration"], reason=judgement.reason, before=state["plan"], after=steps
        )
        return update | start_plan(steps, needs) | {"replans": [change]}

    return replanner


def _turn_of_request(state: WorkingMemory) -> WorkingMemory:
    """The turn in which the selector asked for another plan; empty if it did not."""
    action = state["action"]
    if not action or action["tool"] != "replan":
        return {}
    turn = take_turn(state, lambda _: "")
    return turn | {"replanning": action["input"], "step": state["step"]}
