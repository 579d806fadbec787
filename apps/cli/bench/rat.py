"""``planweave bench rat`` and ``rat-corpus``: retrieval-augmented thoughts and its baselines."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, get_args

import typer
from pydantic import JsonValue
from rich.console import Console

from planweave import BadInput
from planweave.apps.cli.bench.common import RESULTS, Model, Running, listed
from planweave.apps.cli.groups import grouped
from planweave.benchmarks.suites.rat import suite as thoughts
from planweave.benchmarks.suites.rat.corpus import Corpus, build, collection_of
from planweave.benchmarks.suites.rat.items import FILES, Family, Item, choose, load
from planweave.benchmarks.suites.writing import suite as writing
from planweave.tools.documents.collection import collections, open_collection
from planweave.tools.web import KNOWN, open_engine

FamilyName = Annotated[str, typer.Option("--family", help="code, maths, planning or writing.")]
_DATA = "Folder of the family's published files"

_ATTEMPTS: Mapping[Family, int] = {"code": 5, "maths": 3}
"""As in the paper: pass@5 of programs, the mean of three attempts at a word problem."""
_SPREAD_OUT = "0.8"
"""Temperature of several attempts, unless a setting says another."""


@grouped()
def rat(
    *,
    family: FamilyName,
    data: Annotated[Path | None, typer.Option(help=f"{_DATA}; not for writing.")] = None,
    dataset: Annotated[
        str,
        typer.Option(
            help="Data sets with commas between; the family's first if unset, all of writing."
        ),
    ] = "",
    method: Annotated[
        str, typer.Option(help=f"Methods with commas between, or all: {', '.join(thoughts.WAYS)}.")
    ] = "direct,cot,rag-1,rag-5,rat",
    model: Model = "embedded",
    limit: Annotated[
        int | None, typer.Option(help="Items at most of a data set; all if unset.", min=1)
    ] = None,
    seed: Annotated[int, typer.Option(help="Which items the limit leaves.")] = 1,
    samples: Annotated[
        int | None,
        typer.Option(
            help="Attempts at each item; if unset 5 for code, 3 for maths, else 1.", min=1, max=100
        ),
    ] = None,
    collection: Annotated[
        str, typer.Option(help="Look texts up in this collection, not in the family's corpus.")
    ] = "",
    web_search: Annotated[
        str, typer.Option(help=f"Writing: look texts up in the web: {', '.join(KNOWN)}.")
    ] = "",
    running: Running,
) -> None:
    """RAT and its baselines on programs, word problems, plans or texts; can be resumed."""
    chosen = family_of(family)
    attempts = samples or _ATTEMPTS.get(chosen, 1)
    spread = {"temperature": _SPREAD_OUT} if attempts > 1 else {}
    context = running.context(model=model, family=chosen, **spread)
    methods = listed(method, tuple(thoughts.WAYS), "method", every="all")
    name, trial = thoughts.NAME, thoughts.Trial  # other families are graded, texts are compared
    if chosen == "writing":
        name, trial = writing.NAME, writing.Commission
        source = _written_from(collection, web_search)
        pools = _tasks(dataset, " ".join(source.values()))
    else:
        source, pools = _published(chosen, dataset, data, collection, web_search)
    context = context.model_copy(update=source)
    items = [item for pool in pools.values() for item in choose(pool, limit, seed)]
    todo = thoughts.samples(
        items, methods=methods, settings=context, attempts=attempts, suite=name, trial=trial
    )
    about: dict[str, JsonValue] = {
        "name": ", ".join(pools),
        "questions": sum(map(len, pools.values())),
        "limit": limit,
        "seed": seed,
        "attempts": attempts,
        "chosen": len(items),
        **source,
    }
    running.measure(name, todo, context, about)


def rat_corpus(
    *,
    family: FamilyName,
    data: Annotated[Path, typer.Option(help=f"{_DATA}; of HotpotQA for writing.")],
    embeddings: Annotated[
        str, typer.Option(help="Embedding model, or none to search by words alone.")
    ] = "minilm",
    out: Annotated[Path, typer.Option(help="Folder of the list of what was dropped.")] = (
        RESULTS / thoughts.NAME
    ),
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


def _published(
    family: Family, dataset: str, data: Path | None, collection: str, web_search: str
) -> tuple[dict[str, str], dict[str, list[Item]]]:
    """What is looked up in, as a setting, and the data sets wanted."""
    if web_search:
        raise BadInput(
            "Only texts of the family writing are looked up in the web.",
            fix="Leave out --web-search, or name a --collection.",
        )
    if data is None:
        raise BadInput(
            f"The family {family} needs its published files.",
            fix="Name their folder with --data.",
        )
    if collection:
        open_collection(collection)
    source = {"collection": collection or _corpus(family, str(data))}
    names = tuple(FILES[family])
    wanted = listed(dataset or names[0], names, "data set", every="all")
    return source, {name: load(family, name, data) for name in wanted}


def _tasks(kinds: str, source: str) -> dict[str, list[Item]]:
    """The writing tasks of the kinds wanted."""
    tasks = writing.load_tasks(source)
    known = tuple(dict.fromkeys(task.dataset for task in tasks))
    wanted = listed(kinds or "all", known, "kind of text", every="all")
    return {kind: [task for task in tasks if task.dataset == kind] for kind in wanted}


def _written_from(collection: str, web_search: str) -> dict[str, str]:
    """What texts are looked up in, as a setting."""
    if web_search:
        open_engine(web_search)
        return {"web_search": web_search}
    if collection:
        open_collection(collection)
        return {"collection": collection}
    return {"collection": _corpus("writing", "HOTPOTQA")}


def _corpus(family: Family, data: str) -> str:
    name = collection_of(family)
    if name not in collections():
        raise BadInput(
            f"There is no corpus for {family} yet.",
            fix=f"Build it: planweave bench rat-corpus --family {family} --data {data}",
        )
    return name
