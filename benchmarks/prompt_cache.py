"""How many prompt tokens a model reads again when calls share a prefix.

Calls of one role see the same rules and schema and differ in their last message alone; roles take
turns, each with a beginning of its own. Prints one line a call and the share of tokens that the
server had to read again after each role's first call.
"""

import asyncio
import json
from typing import Annotated

import typer
from langchain_core.messages import HumanMessage, SystemMessage

from planweave.models import CallRecord, ModelSettings, achat_model, call, usage_of

RULES = "Answer in at most five words. The database describes trade between nodes.\n" + "\n".join(
    f"Table node_{n}: name TEXT, local_value REAL, total_power REAL, inland BOOLEAN, year INTEGER."
    for n in range(32)
)
QUESTIONS = (
    "Which table comes first?",
    "How many columns has node_3?",
    "Name the type of total_power.",
    "Is there a table node_99?",
    "Which column is a truth value?",
)


async def measure(model: str, roles: int) -> list[CallRecord]:
    """Let each role ask the five questions, taking turns, without the response cache."""
    settings = ModelSettings(response_cache="off")
    chat = await achat_model(model, max_tokens=16, settings=settings)
    records = []
    for text in QUESTIONS:
        for role in range(1, roles + 1):
            prompt = [SystemMessage(f"You are analyst {role}.\n{RULES}"), HumanMessage(text)]
            records.append((await call(chat, prompt, role=f"role {role}")).record)
    return records


def main(
    model: Annotated[str, typer.Option(help="Any model name; the embedded ones cost nothing.")],
    roles: Annotated[int, typer.Option(min=1, help="Roles that take turns.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON lines.")] = False,
) -> None:
    """Measure the prompt cache of MODEL."""
    records = asyncio.run(measure(model, roles))
    for record in records:
        read = record.input_tokens - record.cached_tokens
        if as_json:
            typer.echo(json.dumps({**record.model_dump(exclude={"prompt"}), "read": read}))
        else:
            typer.echo(
                f"{record.role}: {record.input_tokens} prompt tokens, {read} read, "
                f"{record.output_tokens} written, {record.seconds:.1f} s"
            )
    later = usage_of(records[roles:])
    share = 1 - later.cached_tokens / later.input_tokens
    typer.echo(f"read again after each role's first call: {share:.1%} of the prompt", err=as_json)


if __name__ == "__main__":
    typer.run(main)
