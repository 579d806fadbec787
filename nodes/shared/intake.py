"""Intake: takes the question out of the chat, checks the settings, describes the sources."""

import re
from collections.abc import Sequence
from types import NoneType
from typing import Any, NamedTuple, cast, get_args, get_origin, get_type_hints
from uuid import uuid4

from langchain_core.messages import AnyMessage, HumanMessage
from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from planweave import BadInput
from planweave.memory import Context, Exchange, WorkingMemory
from planweave.memory.reducers import latest, reducers
from planweave.nodes.acting.environment import new_episode, scene, task_to_solve
from planweave.nodes.support.role import PlainNode
from planweave.texts import shorten
from planweave.tools import schema_text
from planweave.tools.bound import TOOLS
from planweave.tools.connect import open_filled
from planweave.tools.documents.collection import open_collection
from planweave.tools.web.engine import open_engine

_GREETING = re.compile(
    r"\W*(hi|hey|hello|howdy|greetings|good (morning|afternoon|evening|day)|hallo|moin|servus|"
    r"guten (morgen|tag|abend)|bonjour|salut|hola|buenos días|ciao|hej|thanks|thank you|danke|"
    r"merci|bye|goodbye)( there| you| all| everyone| again)?\W*",
    re.IGNORECASE,
)
_MOST = 50_000
"""Characters of a question: the check of the answer reads it again and again."""
_EXCHANGES = 4
_EXCHANGE_CHARACTERS = 600
_OWN = "question-"
"""How the ids of messages begin that were questions without one."""


def intake(state: type[Any]) -> PlainNode:
    """Make the node that starts a question; it writes what ``state`` declares."""
    declared = frozenset(get_type_hints(state))

    def intake(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
        update = _begun(state, runtime)
        return cast("WorkingMemory", {k: v for k, v in update.items() if k in declared})

    return intake


def _begun(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Start a question: an empty working memory but for the question, the plan and the schema.

    What earlier questions of the conversation have found stays: facts, their numbers, and the
    abbreviations that were learned.
    """
    context: object = runtime.context  # None where none is given, or that of a graph around this
    if not isinstance(context, Context):
        raise BadInput(
            "The graph runs without its settings.", fix="Give context=planweave.Settings(…)."
        )
    said = _said(state)
    task = task_to_solve(runtime.context)
    history = [] if task else _history(state.get("messages", []))
    asked = state.get("question", "") if said is None else said
    question = task.question if task else asked.strip()
    if not question:
        raise BadInput("There is no question.", fix="Send it as a message or as `question`.")
    if len(question) > _MOST:
        raise BadInput(
            f"The question has {len(question):,} characters; at most {_MOST:,} are read.",
            fix="Put long texts into a document and business rules into `rules`.",
        )
    greeting = task is None and _is_greeting(question)
    sources = {} if greeting else sources_of(runtime.context)
    plan = [line for step in state.get("predefined_plan", []) if (line := step.strip())]
    memory: WorkingMemory = {
        "messages": [HumanMessage(question, id=f"{_OWN}{uuid4()}")] if said is None else [],
        "question": question,
        "greeting": greeting,
        "history": history,
        "languages": {tool: source.language for tool, source in sources.items()},
        "schema_text": "\n\n".join(source.text for source in sources.values() if source.text),
        "plan": plan,
        "given_plan": bool(plan),
        "predefined_plan": [],
        "episode": new_episode(task, runtime.context),
    }
    return _cleared(follows=bool(history)) | memory


def _cleared(*, follows: bool) -> WorkingMemory:
    """What the work on an earlier question has left, empty again.

    Facts and abbreviations stay for a question that follows. An empty update of what grows would
    change nothing, so that is overwritten.
    """
    growing = reducers(WorkingMemory)
    kept = {"messages", *(("facts", "abbreviations") if follows else ())}
    cleared: dict[str, Any] = {"step": 1}
    for name, hint in get_type_hints(WorkingMemory).items():
        if name not in {*kept, *cleared}:
            empty = None if NoneType in get_args(hint) else (get_origin(hint) or hint)()
            grows = growing.get(name, latest) is not latest
            cleared[name] = Overwrite(empty) if grows else empty
    return cast("WorkingMemory", cleared)


class Source(NamedTuple):
    """What can be asked: in which language, and what it holds."""

    language: str
    text: str


def sources_of(context: Context) -> dict[str, Source]:
    """What a run may read from, by tool; one that is missing or cannot be used is reported.

    Raises:
        DatabaseUnavailable: A database is missing or does not answer.
    """
    if context.environment:
        return {"environment": Source("actions", scene(context))}
    urls = {
        tool: url for tool, url in (("sql", context.database), ("cypher", context.graph)) if url
    }
    budget = context.schema_characters // max(1, len(urls) + context.has_documents)
    sources = {}
    for tool, url in urls.items():
        database = open_filled(url)
        text = schema_text(database.schema(), max_characters=budget)
        sources[tool] = Source(database.language, text)
    if context.web_search:
        open_engine(context.web_search)  # one that cannot be used is said before anything is asked
        sources["documents"] = Source("words", "Documents: pages of the web, by their addresses.")
    elif context.collection:
        sources["documents"] = Source("words", _contents(context.collection, budget))
    for name in context.tools:
        TOOLS.get(name)  # one that is not known is reported before anything is asked
        sources[name] = Source("JSON", "")
    if not sources and context.retrievals:
        raise BadInput(
            "No database and no document collection is connected.",
            fix="Give --database, --graph, --collection or --web-search (in a run's context "
            "`database`, `graph`, `collection` or `web_search`). `planweave docs add FILE` adds "
            "documents.",
        )
    return sources


def _contents(collection: str, budget: int) -> str:
    """The documents of a collection by name; where not all fit, their number.

    The first few of many names would tell little of what there is, and small models search for
    what they read first.
    """
    documents = open_collection(collection).documents()
    if not documents:
        raise BadInput(
            f"The document collection {collection!r} is empty.",
            fix=f"Add documents: planweave docs add FILE --collection {collection}",
        )
    lines = [f"- {document.name} ({document.pages} pages)" for document in documents]
    if sum(map(len, lines)) > budget:
        return f"Documents: {len(documents)}, too many to name here; a search finds their pages."
    return "\n".join(["Documents:", *lines])


def _is_greeting(text: str) -> bool:
    return _GREETING.fullmatch(text) is not None


def _history(messages: Sequence[AnyMessage]) -> list[Exchange]:
    """The last questions that were answered in this conversation; greetings are none."""
    exchanges: list[Exchange] = []
    question = ""
    for message in messages:
        if message.type == "human":
            question = message.text.strip()
        elif message.type == "ai" and question and not _is_greeting(question):
            answer = message.text.strip()
            exchanges.append(Exchange(question=_short(question), answer=_short(answer)))
            question = ""
    return exchanges[-_EXCHANGES:]


def _short(text: str) -> str:
    return shorten(text, _EXCHANGE_CHARACTERS)


def _said(state: WorkingMemory) -> str | None:
    """The message of the chat that has no answer; None where the question comes without one.

    What intake has put into the chat itself is no message: an earlier run has failed on it.
    """
    last = next(reversed(state.get("messages", [])), None)
    if last is None or last.type != "human" or (last.id or "").startswith(_OWN):
        return None
    return last.text
