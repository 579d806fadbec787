"""Speaker: says the answer in the chat, with the sources that it cites."""

from langchain_core.messages import AIMessage

from planweave import BadInput
from planweave.memory import Answer, WorkingMemory
from planweave.nodes.shared.citation_check import CITATION
from planweave.nodes.support.briefing import source_text
from planweave.nodes.support.verdict import warning


def speaker(state: WorkingMemory) -> WorkingMemory:
    """Add the answer to the chat as one message.

    Raises:
        BadInput: There is none: somebody has sent the run here.
    """
    answer = state["answer"]
    if answer is None:
        raise BadInput("There is no answer to speak.", fix="Begin at a node that answers.")
    cited = [fact for fact in state["facts"] if fact["number"] in answer["facts"]]
    shown = [source_text(fact) for fact in cited if fact["quote"] or "working" in fact]
    parts = [
        _decision(answer),
        f"⚠ {warning(answer)}" if warning(answer) else "",
        _why(answer),
        f"Not known: {answer['unknown']}" if answer["unknown"] else "",
        "\n".join(["Sources:", *shown]) if shown else "",
    ]
    return {"messages": [AIMessage("\n\n".join(part for part in parts if part))]}


def _decision(answer: Answer) -> str:
    if answer["decision"] and "\n" in answer["decision"]:  # a program, a plan or a longer text
        return answer["decision"]
    if answer["decision"]:
        return f"**{answer['decision']}**"
    return "" if CITATION.search(answer["why"]) else "I cannot decide this."


def _why(answer: Answer) -> str:
    """The reasons; facts that are not cited in their text are cited at its end."""
    left = [f"[{n}]" for n in answer["facts"] if f"[{n}]" not in answer["why"]]
    return f"{answer['why']} {''.join(left)}".strip()
