"""``planweave bench rat`` and ``rat-corpus``: retrieval-augmented thoughts and its baselines."""

import json
import os
from pathlib import Path
from typing import Annotated, get_args

import typer
from rich.console import Console

from apps.bench.common import (
    AsJson,
    context_of,
    head_of,
    listed,
    pairs,
    result_path,
    run_samples,
    tell_report,
)
from benchmarks import rat as thoughts
from benchmarks.rat_corpus import Corpus, Family, build, collection_of
from benchmarks.rat_items import FILES, choose, load
from planweave import BadInput
from tools.documents.collection import collections

FamilyName = Annotated[str, typer.Option("--family", help="code, maths or planning.")]
Data = Annotated[Path, typer.Option("--data", help="Folder of the family's published files.")]
Out = Annotated[Path, typer.Option(help="Folder of the result file and the report.")]

_RESULTS = Path("results/rat")
_SPREAD_OUT = 0.8
"""Temperature of several attempts, unless a setting says another."""


def rat(
    *,
    family: FamilyName,
    data: Data,
    dataset: Annotated[
        str, typer.Option(help="Data sets with commas between; the family's first if unset.")
    ] = "",
    method: Annotated[
        str, typer.Option(help=f"Methods with commas between, or all: {', '.join(thoughts.WAYS)}.")
    ] = "direct,cot,rag-1,rag-5,rat",
    model: Annotated[str, typer.Option(help="Chat model, such as openai:gpt-4o.")] = "embedded",
    limit: Annotated[
        int | None, typer.Option(help="Items at most of a data set; all if unset.", min=1)
    ] = None,
    seed: Annotated[int, typer.Option(help="Which items the limit leaves.")] = 1,
    samples: Annotated[
        int, typer.Option(help="Attempts at each item: 5 for pass@5, 3 for maths.", min=1, max=100)
    ] = 1,
    concurrency: Annotated[int, typer.Option(help="Items in flight.", min=1, max=256)] = 1,
    setting: Annotated[
        list[str] | None, typer.Option(help="Any other setting: max_reply_tokens=1024.")
    ] = None,
    out: Out = _RESULTS,
    redo_crashed: Annotated[
        bool, typer.Option("--redo-crashed", help="Run again what crashed before.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """RAT and its baselines on programs, word problems or plans; can be resumed."""
    os.environ.setdefault("PLANWEAVE_RESPONSE_CACHE", "off")  # a kept reply would look free
    console = Console(stderr=as_json, highlight=False)
    chosen = family_of(family)
    given: dict[str, str | int] = {"model": model, "family": chosen, **pairs(setting or [])}
    context = context_of(given)
    if samples > 1 and "temperature" not in context.model_fields_set:
        context = context.model_copy(update={"temperature": _SPREAD_OUT})
    context = context.model_copy(update={"collection": _corpus(chosen, data)})
    methods = listed(method, tuple(thoughts.WAYS), "method", every="all")
    names = tuple(FILES[chosen])
    wanted = listed(dataset or names[0], names, "data set", every="all")
    pools = {name: load(chosen, name, data) for name in wanted}
    items = [item for name in wanted for item in choose(pools[name], limit, seed)]
    todo = thoughts.samples(items, methods=methods, settings=context, attempts=samples)
    sample = {"limit": limit, "seed": seed, "attempts": samples, "chosen": len(items)}
    about = {"name": ", ".join(wanted), "questions": sum(map(len, pools.values())), **sample}
    path = result_path(out, model)
    head = head_of(thoughts.NAME, context, {**about, "concurrency": concurrency})
    run_samples(console, todo, head, path, concurrency=concurrency, redo_crashed=redo_crashed)
    tell_report([path], console, as_json=as_json, folder=out)


def rat_corpus(
    *,
    family: FamilyName,
    data: Data,
    embeddings: Annotated[
        str, typer.Option(help="Embedding model, or none to search by words alone.")
    ] = "minilm",
    out: Out = _RESULTS,
) -> None:
    """Build what RAT looks things up in, without what is tested; tell what was dropped."""
    console = Console(highlight=False)
    chosen = family_of(family)
    with console.status("reading …") as status:
        built = build(
            chosen,
            data,
            embeddings=embeddings,
            progress=lambda _, done, of: status.update(f"embedded {done} of {of} passages …"),
        )
    page = out / f"corpus-{chosen}.json"
    try:
        out.mkdir(parents=True, exist_ok=True)
        page.write_text(json.dumps(built.as_json(), indent=1, ensure_ascii=False) + "\n", "utf-8")
    except OSError as error:
        raise BadInput(f"{page} cannot be written ({error.strerror}).") from None
    _tell(console, built)
    console.print(f"Written: {page}", markup=False, soft_wrap=True)


def family_of(name: str) -> Family:
    """The family of that name.

    Raises:
        BadInput: There is none.
    """
    families: tuple[Family, ...] = get_args(Family)
    (family,) = listed(name, families, "task family", every="")
    return family


def _tell(console: Console, built: Corpus) -> None:
    of = len(built.kept) + len(built.dropped)
    console.print(
        f"{built.collection}: {len(built.kept)} of {of} texts; {len(built.dropped)} were dropped "
        "since they share words with what is tested."
    )
    for one in built.dropped[:5]:
        line = f"  dropped {one.name}, like {one.tested}: {one.words}"
        console.print(line, markup=False, soft_wrap=True)


def _corpus(family: Family, data: Path) -> str:
    name = collection_of(family)
    if name not in collections():
        raise BadInput(
            f"There is no corpus for {family} yet.",
            mend=f"Build it: planweave bench rat-corpus --family {family} --data {data}",
        )
    return name
