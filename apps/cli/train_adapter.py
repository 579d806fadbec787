"""``planweave train adapter``: the adapter that judges questions and rows."""

from collections.abc import Callable, Sequence
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import httpx
import typer
from langchain_core.messages import convert_to_openai_messages
from rich.console import Console
from rich.progress import Progress

from planweave.apps.cli.question_sets import questions_in
from planweave.apps.options import Model, output_folder
from planweave.benchmarks.suites.query_writing.lessons import Lesson, lessons
from planweave.errors import require
from planweave.models.embedded import serve
from planweave.models.settings import process_settings
from planweave.models.weights import resolve

if TYPE_CHECKING:
    from planweave.learning.adapter import Ground, Step

_END = "<|im_end|>"


def adapter(
    *,
    data: Annotated[
        list[Path], typer.Option(help="Folders of questions, as for bench text2sql or text2cypher.")
    ],
    out: Annotated[Path, typer.Option(help="GGUF file for the adapter.")],
    model: Model = "embedded",
    passes: Annotated[int, typer.Option(help="Number of draws from each database.", min=1)] = 1,
    minutes: Annotated[float, typer.Option(help="Maximum time in minutes.", min=1)] = 24 * 60.0,
    seed: Annotated[int, typer.Option(help="Seed of every draw.", min=0)] = 1,
) -> None:
    """Train the adapter of the embedded model; slow unless JAX has an accelerator."""
    require("Training", "learning,embedded", "jax", "optax", "gguf", "xllamacpp")
    import jax

    from planweave.learning.adapter import AdapterSettings, train
    from planweave.learning.language_model import read_model, write_adapter

    output_folder(out.parent)
    console, gguf = Console(highlight=False), resolve(model)
    questions = [question for folder in data for question in questions_in(folder)]
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task("reading the questions", total=None)
        tokens = _start_tokenizer(gguf)
        grounds = [
            _make_ground(group, tokens)
            for number in range(passes)
            for group in lessons(questions, seed=seed + number)
        ]
        settings = AdapterSettings(seed=seed, seconds=minutes * 60)
        is_fast = jax.default_backend() != "cpu"
        language_model = read_model(gguf, jax.numpy.bfloat16 if is_fast else jax.numpy.float32)

        def show(step: "Step") -> None:
            text = f"training, loss {step.loss:.3f}"
            bar.update(task, completed=step.done, total=step.whole, description=text)

        trained = train(language_model, grounds, settings, progress=show)
    write_adapter(out, trained, language_model.depth, settings.scale)
    console.print(f"{len(grounds)} databases read: {out}")


Tokens: TypeAlias = Callable[[Lesson], tuple[list[int], list[int]]]
"""Returns the tokens of a lesson's prompt and of its reply."""


def _make_ground(some: Sequence[Lesson], tokens: Tokens) -> "Ground":
    """Group the lessons of a database behind the common prefix of their prompts."""
    from planweave.learning.adapter import Ground, Item

    pairs = [tokens(lesson) for lesson in some]
    columns = zip(*(prompt[:-1] for prompt, _ in pairs), strict=False)
    shared = [column[0] for column in takewhile(lambda column: len({*column}) == 1, columns)]
    items = [
        Item(prompt[len(shared) :], reply, lesson.weight)
        for (prompt, reply), lesson in zip(pairs, some, strict=True)
    ]
    return Ground(shared, items)


def _start_tokenizer(gguf: Path) -> Tokens:
    """Start the model's server, and return a function that tokenizes with it."""
    settings = process_settings()
    endpoint = serve(gguf, settings)
    key = {"authorization": f"Bearer {endpoint.key}"}
    client = httpx.Client(base_url=endpoint.url, headers=key, timeout=settings.timeout)

    def tokens(text: str) -> list[int]:
        body = {"content": text, "add_special": False, "parse_special": True}
        found: list[int] = client.post("/tokenize", json=body).raise_for_status().json()["tokens"]
        return found

    def tokenize_lesson(lesson: Lesson) -> tuple[list[int], list[int]]:
        messages = convert_to_openai_messages(list(lesson.prompt))
        asked = client.post("/apply-template", json={"messages": messages}).raise_for_status()
        return tokens(asked.json()["prompt"]), tokens(lesson.reply + _END)

    return tokenize_lesson
