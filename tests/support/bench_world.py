"""A tiny published-layout data set, and scripted models that decide by it in the real graphs.

Run as a script it is the benchmark's command line with those models registered.
"""

import json
import re
import sys
import time
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from models import ModelRequest, register_provider
from simulators.published import load, save
from simulators.registry import scenario

SIZE = 60
QUERIES = {
    ("sql", True): "SELECT trade_node, ingoing, total_power FROM trade_node",
    ("sql", False): "SELECT * FROM supply JOIN goods ON goods.code = supply.goods_id",
    ("cypher", True): "MATCH (n:Trade_node) RETURN n.ingoing, n.total_power",
    ("cypher", False): "MATCH (b:Building)-[s:Supply]->(g:Goods) RETURN s, g.pop_demand",
}


def write_data(folder: Path, number: int = 2) -> Path:
    """``number`` generated questions of each published scenario."""
    asked = [
        scenario(name).ask(scenario(name).generate(seed, SIZE), seed)
        for name in ("locating", "building")
        for seed in range(1, number + 1)
    ]
    return save(asked, folder)


class Scripted(BaseChatModel):
    """Reads the database once, then decides: rightly, wrongly, slowly, or not at all."""

    behaviour: str
    answers: dict[str, str]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        if self.behaviour == "gone":
            raise ConnectionError("refused")
        if self.behaviour == "slow":
            time.sleep(0.05)
        ground, task = messages[0].text, messages[1].text
        text = "so sorry" if self.behaviour == "broken" else json.dumps(self._reply(ground, task))
        used = {"input_tokens": 100, "output_tokens": 10, "total_tokens": 110}
        message = AIMessage(text, usage_metadata=used)
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _reply(self, ground: str, task: str) -> dict[str, Any]:
        if "Your task now: the plan" in task:
            return {"steps": ["read", "compare"], "missing": ""}
        if "Your task now: judge the plan" in task:
            return {"reason": "good", "replan": "N", "steps": []}
        if "Your task now: the decision" in task:
            right = next(a for question, a in self.answers.items() if question in ground)
            decision = right if self.behaviour in ("right", "slow") else "nowhere"
            return {"why": "most", "facts": [1], "decision": decision, "unknown": ""}
        done = "Fact [1]" in task and "- finish" in task
        tool = re.findall(r"- (sql|cypher):", task)[0]
        query = QUERIES[tool, "rade_node" in ground]
        action = {"tool": "finish", "input": ""} if done else {"tool": tool, "input": query}
        return {"thought": "look", "step": 1, **action}


def register(data: Path) -> None:
    """Make ``scripted:<behaviour>`` known; it knows the answers to the questions in ``data``."""
    answers = {question.prompt: str(question.answer) for question in load(data).questions}

    def make(request: ModelRequest) -> BaseChatModel:
        return Scripted(behaviour=request.model, answers=answers)

    register_provider("scripted", make)


if __name__ == "__main__":
    from apps.bench import app

    register(Path(sys.argv[sys.argv.index("--data") + 1]))
    app()
