"""A tiny published-layout data set, and scripted models that decide by it in the real graphs.

Run as a script it is the benchmark's command line with those models registered.
"""

import re
import sys
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from scripted import Prompt, Reply, act, decide, keep, plan, playing

from planweave.models import ModelRequest, register_provider
from planweave.simulators.published import load_dataset, save
from planweave.simulators.registry import scenario
from planweave.testing import ScriptedModel

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


def reply(behaviour: str, answers: Mapping[str, str], prompt: Prompt) -> Reply:
    """Read the database once, then decide: rightly, wrongly, slowly, or not at all."""
    if behaviour == "gone":
        raise ConnectionError("refused")
    if behaviour == "broken":
        return "so sorry"
    if behaviour == "slow" and __name__ == "__main__":  # in a process that is to be killed
        time.sleep(0.2)
    ground, task = prompt.messages[0].text, prompt.messages[1].text
    match prompt.task:
        case "plan":
            return plan("read", "compare")
        case "judge":
            return keep()
        case "decide":
            right = next(answer for question, answer in answers.items() if question in ground)
            return decide(right if behaviour in ("right", "slow") else "nowhere", 1)
    if "Fact [1]" in task and "- finish" in task:
        return act("finish")
    tool = re.findall(r"- (sql|cypher):", task)[0]
    return act(tool, QUERIES[tool, "rade_node" in ground])


def register(data: Path) -> None:
    """Make ``scripted:<behaviour>`` known; it knows the answers to the questions in ``data``."""
    answers = {question.prompt: str(question.answer) for question in load_dataset(data).questions}

    def make(request: ModelRequest) -> ScriptedModel:
        return playing(partial(reply, request.model, answers))

    register_provider("scripted", make)


if __name__ == "__main__":
    from planweave.apps.cli.bench import app

    register(Path(sys.argv[sys.argv.index("--data") + 1]))
    app()
