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
QUERY = {
    "thought": "The cheapest offer decides.",
    "step": 1,
    "tool": "sql",
    "input": "SELECT name, price FROM offer ORDER BY price LIMIT 1",
}
SOUND = {"reason": "It is enough.", "replan": "N", "steps": []}
FINISH = {"thought": "Enough.", "step": 1, "tool": "finish", "input": ""}
DECISION = {"why": "It costs least.", "facts": [1], "decision": "Birch", "unknown": ""}
WHOLE_RUN = (PLAN, QUERY, FINISH, DECISION)


def scripted(*replies: Mapping[str, object], delay: float = 0.0) -> list[Answer]:
    """Each reply as the JSON text that a model would send."""
    return [Answer(text=json.dumps(reply), delay=delay) for reply in replies]
