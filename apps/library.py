"""The public functions: ``planweave.run`` and its sisters, and ``confirm`` (docs/api.md)."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import ExitStack, aclosing, contextmanager
from pathlib import Path
from threading import Thread as OsThread
from typing import Any, Literal, TypedDict, Unpack

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable

from planweave import BadInput
from planweave.apps.options import context_of, text_of
from planweave.apps.run import Ask
from planweave.apps.run import run as run_thread
from planweave.apps.threads import NAME, Thread, is_kept, load_thread, new_id
from planweave.graphs import METHODS
from planweave.graphs.support.choice import choose
from planweave.graphs.support.events import AnswerEvent, Event, Result
from planweave.graphs.support.running import check_order
from planweave.learning.experience import experience_of
from planweave.learning.paths import TaskPath
from planweave.memory import LOCAL, Context, Input, check_input
from planweave.models import registered
from planweave.state import is_file_name
from planweave.tools.connect import sort_by_kind


def confirm(
    question: str, query: str, *, language: Literal["sql", "cypher"] = "sql", owner: str = LOCAL
) -> None:
    """Store the right query of a question as an example for the owner's later questions.

    The query is not run. The setting ``owner`` of later questions must be the same.

    Raises:
        BadInput: Question or query is empty, the language is another, or the owner's experience
            cannot be written.
    """
    if language not in ("sql", "cypher"):
        raise BadInput(f"{language!r} is not a query language.", fix="Name sql or cypher.")
    if not (question.strip() and query.strip()):
        raise BadInput("There is nothing to confirm.", fix="Give a question and its right query.")
    instruction = f"{language}[{query.strip()}]"
    experience_of(owner).add([TaskPath("", question.strip(), (instruction,), origin="confirmed")])


class Options(TypedDict, total=False):
    """Options of a question.

    Attributes:
        method: Name of the method; chosen by the model and the sources if unset.
        database: Relational database: URL, or a SQLite, ``.sql``, CSV, Excel or Parquet file.
        rules: Business rules that the answer must follow: text, or the path of a file.
        documents: Name of a document collection (``planweave docs``).
        model: Name of a chat model, or any LangChain chat model; the embedded one if unset.
        thread: Name of a thread that is saved in the state folder, so that a further question
            continues with its facts, method and settings; if unset, it is not saved.
        approve: Function that returns a person's decision when a run waits for it; may be async.
        tokens: Report parts of replies as events.
    """

    method: str
    database: str | Path | None
    rules: str | Path
    documents: str | None
    model: str | BaseChatModel
    settings: Context | Mapping[str, Any]
    plan: Sequence[str]
    thread: str | None
    approve: Ask
    tokens: bool


async def astream(question: str, **options: Unpack[Options]) -> AsyncGenerator[Event]:
    """Ask a method and yield typed events; the last one is the answer.

    The run stops when the iteration stops.

    Raises:
        PlanweaveError: A setting is invalid, or the run cannot continue.
    """
    if unknown := options.keys() - Options.__annotations__.keys():
        raise BadInput(
            f"There is no option {min(unknown)!r}.",
            fix="Give settings that have no option of their own as settings={…}.",
        )
    plan: object = options.get("plan") or ()
    if isinstance(plan, str) or not isinstance(plan, Sequence):
        raise BadInput(f"The plan is a {type(plan).__name__}.", fix="Give a list of its steps.")
    start: Input = {"question": question}
    if plan:
        start["predefined_plan"] = [*plan]
    check_input(start)
    with ExitStack() as models:
        given = _settings(options, models)
        thread = _thread(given, options, with_plan=bool(plan))
        check_order(thread.method, thread.context, with_plan=bool(plan))
        is_saved = options.get("thread") is not None
        if is_saved:
            await asyncio.to_thread(thread.check_models)
            thread.save()
        run = run_thread(
            thread,
            start,
            ask=options.get("approve"),
            kept=is_saved,
            tokens=options.get("tokens", False),
        )
        async with aclosing(run):
            async for event in run:
                yield event


async def arun(question: str, **options: Unpack[Options]) -> Result:
    """Ask a method and return its result. See :func:`astream`."""
    events = astream(question, **options)
    async with aclosing(events):
        async for event in events:
            if isinstance(event, AnswerEvent):
                return event.result
    raise BadInput(
        "The run waits for a person, but no one can be asked.", fix="Give a function as approve=…."
    )


def run(question: str, **options: Unpack[Options]) -> Result:
    """Ask a method and return its result. Also works while an event loop runs, as in a notebook."""
    with _loop() as wait:
        result: Result = wait(arun(question, **options))
        return result


def stream(question: str, **options: Unpack[Options]) -> Iterator[Event]:
    """Ask a method and yield typed events. See :func:`astream`."""
    events = astream(question, **options)
    with _loop() as wait:
        try:
            while (event := wait(_next(events))) is not None:
                yield event
        finally:
            wait(_close(events))


async def _next(events: AsyncGenerator[Event]) -> Event | None:
    return await anext(events, None)


async def _close(events: AsyncGenerator[Event]) -> None:
    await events.aclose()


@contextmanager
def _loop() -> Iterator[Callable[[Coroutine[Any, Any, Any]], Any]]:
    """Run an event loop in its own thread, as this one may have one; yield a waiting function."""
    loop = asyncio.new_event_loop()

    def serve() -> None:
        with asyncio.Runner(
            loop_factory=lambda: loop
        ):  # cancels remaining tasks, as asyncio.run does
            loop.run_forever()

    worker = OsThread(target=serve, daemon=True)
    worker.start()

    def wait(work: Coroutine[Any, Any, Any]) -> Any:
        future = asyncio.run_coroutine_threadsafe(work, loop)
        try:
            return future.result()
        except BaseException:  # also in this thread, such as Ctrl-C
            future.cancel()
            raise

    try:
        yield wait
    finally:
        loop.call_soon_threadsafe(loop.stop)
        worker.join()


def _settings(options: Options, models: ExitStack) -> dict[str, Any]:
    """The given settings by name; a model object stays registered until ``models`` closes."""
    settings: object = options.get("settings", {})
    if not isinstance(settings, Context | Mapping):
        raise BadInput(
            f"The settings are {type(settings).__name__}.",
            fix="Give planweave.Settings(…) or a mapping from names to values.",
        )
    given: dict[str, Any] = (
        settings.model_dump(exclude_unset=True) if isinstance(settings, Context) else {**settings}
    )
    given |= _named_settings(options, given)
    if isinstance(given.get("database"), Path):
        given["database"] = str(given["database"])
    if isinstance(given.get("database"), str):
        given |= sort_by_kind(given["database"], given.get("graph"))
    if isinstance(given.get("rules"), Path):
        given["rules"] = text_of(given["rules"], "rules")
    model = given.get("model", "")
    if isinstance(model, BaseChatModel):
        given["model"] = models.enter_context(registered(model))
    elif isinstance(model, Runnable):
        raise BadInput(
            f"A {type(model).__name__} is no chat model.",
            fix="Give a LangChain chat model itself, or a model's name.",
        )
    ask: object = options.get("approve")
    if ask is not None:
        if not callable(ask):
            raise BadInput(
                "The option approve is not a function.",
                fix='To stop where a person has to decide, give settings={"approve": True}.',
            )
        given |= {} if given.get("approve_tools") else {"approve": True}
    return given


def _named_settings(options: Options, given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that have an option of their own; refuse one that is also given otherwise."""
    names = {"database": "database", "documents": "collection", "rules": "rules", "model": "model"}
    named = {names[name]: value for name, value in options.items() if name in names}
    if differing := [name for name, value in named.items() if given.get(name, value) != value]:
        raise BadInput(
            f"The setting {differing[0]} is given twice, and differs.", fix="Give it once."
        )
    return named


def _thread(given: dict[str, Any], options: Options, *, with_plan: bool) -> Thread:
    """The thread of a run; a saved thread continues with its method and settings."""
    name: object = options.get("thread")
    if name is not None and not (isinstance(name, str) and is_file_name(name, NAME)):
        raise BadInput(
            f"{name!r} is not the name of a thread.",
            fix="Use letters, digits, - and _, at most 64.",
        )
    method = options.get("method", "")
    if method:
        METHODS.get(method)
    if name is not None and is_kept(name):
        saved = load_thread(name, {kind: given.get(kind) for kind in ("database", "graph")})
        context = context_of(saved.context.model_dump(exclude_unset=True) | given)
        return Thread(id=name, method=method or saved.method, context=context)
    context = context_of(given)
    method = method or choose(context, with_plan=with_plan).method
    return Thread(id=name or new_id(), method=method, context=context)
