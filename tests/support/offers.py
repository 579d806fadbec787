"""A small question, its database, and the replies of a model that answers it."""

import json
from collections.abc import Mapping

from openai_server import Answer

SCRIPT = """
CREATE TABLE offer(name TEXT PRIMARY KEY, price REAL);
INSERT INTO offer(name, price) VALUES ('ash', 7.5);
INSERT INTO offer(name, price) VALUES ('birch', 5.25);
"""
PLAN = {"steps": ["Find the cheapest offer in table offer."]}


def by_task(task: str, reply: object) -> Answer:
    """A reply to the prompts for one task, whenever they come."""
    return Answer(text=json.dumps(reply), to=f"# Your task now: {task}", delay=0.02)


def querying(text: str, *, step: int = 1) -> dict[str, object]:
    """A query as the only action, in the form of one thing at a time and of several."""
    action = {"tool": "sql", "input": text}
    several = {"actions": [{**action, "completes": [step]}], "answer": None}
    return {"thought": "The cheapest offer decides.", "step": step, **action, **several}


QUERY = querying("SELECT name, price FROM offer ORDER BY price LIMIT 1")
SOUND = {"reason": "It is enough.", "replan": "N", "steps": []}
FINISH = {"thought": "So.", "step": 1, "tool": "finish", "input": "", "actions": [], "answer": None}
DECISION = {"why": "It costs least.", "facts": [1], "decision": "Birch", "unknown": ""}
WHOLE_RUN = (PLAN, QUERY, FINISH, DECISION)
"""Of planrag by default: a good result is not judged."""


def scripted(*replies: Mapping[str, object], delay: float = 0.0) -> list[Answer]:
    """Each reply as the JSON text that a model would send."""
    return [Answer(text=json.dumps(reply), delay=delay) for reply in replies]
