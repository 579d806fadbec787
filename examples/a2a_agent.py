"""A method as an agent of the Agent2Agent protocol: python examples/a2a_agent.py.

Start a server first, ``PLANWEAVE_SERVICE=examples/service.json planweave serve``, and put the
token of its link into the variable PLANWEAVE_KEY.
"""

import os
import uuid

import httpx

agent = f"{os.environ.get('PLANWEAVE_URL', 'http://127.0.0.1:2024')}/a2a/planrag"
key = {"x-api-key": os.environ.get("PLANWEAVE_KEY", "")}
card = httpx.get(f"{agent}/.well-known/agent-card.json", headers=key).json()
print(f"{card['name']}: {card['description']}")
message = {
    "messageId": str(uuid.uuid4()),
    "role": "ROLE_USER",
    "parts": [{"text": "Which offer is cheapest?"}],
}
call = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}}
task = httpx.post(agent, json=call, headers=key, timeout=600).json()["result"]["task"]
print(task["artifacts"][0]["parts"][0]["text"])
