"""A method as a model of OpenAI's client: python examples/openai_client.py.

Start a server first, ``PLANWEAVE_SERVICE=examples/service.json planweave serve``, and put the
token of its link into the variable PLANWEAVE_KEY. The steps go to standard error.
"""

import os
import sys

from openai import OpenAI

server = os.environ.get("PLANWEAVE_URL", "http://127.0.0.1:2024")
client = OpenAI(base_url=f"{server}/v1", api_key=os.environ.get("PLANWEAVE_KEY", "none"))
print("models:", *(model.id for model in client.models.list()))
stream = client.chat.completions.create(
    model="planrag",
    messages=[{"role": "user", "content": "Which offer is cheapest?"}],
    extra_body={"context": {"rules": "Delivery takes at most a week."}},
    stream=True,
)
for chunk in stream:
    delta = chunk.choices[0].delta if chunk.choices else None
    print(getattr(delta, "reasoning_content", None) or "", end="", file=sys.stderr)
    print(getattr(delta, "content", None) or "", end="")
