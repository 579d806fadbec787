"""Intake: takes the question from the chat, checks the settings, describes the sources."""

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
from planweave.memory.reducers import keep_latest, reducers
from planweave.nodes.acting.environment import describe_scene, find_task_to_solve, new_episode
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
_MAX_CHARACTERS = 50_000
"""Length of a question; the check of the answer reads it many times."""
_EXCHANGES = 4
_EXCHANGE_CHARACTERS = 600
_OWN_ID = "question-"
"""Prefix of the ids of messages that intake adds for questions without a message."""


def intake(state: type[Any]) -> PlainNode:
    """Make the node that starts a question; it writes only what ``state`` declares."""
    declared = frozenset(get_type_hints(state))

    def intake(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
        update = _start_question(state, runtime)
        return cast("WorkingMemory", {k: v for k, v in update.items() if k in declared})

    return intake


def _start_question(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Start a question with the question, the plan and the schema in an empty working memory.

    The facts and abbreviations of earlier questions of the conversation stay.
    """
    context: object = runtime.context  # None if not given, or the context of an outer graph
    if not isinstance(context, Context):
        raise BadInput(
            "The graph runs without its settings.", fix="Give context=planweave.Settings(…)."
        )
    message = _last_message(state)
    task = find_task_to_solve(runtime.context)
    history = [] if task else _history(state.get("messages", []))
    asked = state.get("question", "") if message is None else message
    question = task.question if task else asked.strip()
    if not question:
        raise BadInput("There is no question.", fix="Send it as a message or as `question`.")
    if len(question) > _MAX_CHARACTERS:
        raise BadInput(
            f"The question has {len(question):,} characters; at most {_MAX_CHARACTERS:,} are read.",
            fix="Put long texts into a document and business rules into `rules`.",
        )
    greeting = task is None and _is_greeting(question)
    sources = {} if greeting else sources_of(runtime.context)
    plan = [line for step in state.get("predefined_plan", []) if (line := step.strip())]
    memory: WorkingMemory = {
        "messages": [HumanMessage(question, id=f"{_OWN_ID}{uuid4()}")] if message is None else [],
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
    return _clear_memory(is_follow_up=bool(history)) | memory


def _clear_memory(*, is_follow_up: bool) -> WorkingMemory:
    """Clear what the work on an earlier question has left.

    Facts and abbreviations stay for a follow-up question. An empty update of a growing field would
    change nothing, so such a field is overwritten.
    """
    growing = reducers(WorkingMemory)
    kept = {"messages", *(("facts", "abbreviations") if is_follow_up else ())}
    cleared: dict[str, Any] = {"step": 1}
    for name, hint in get_type_hints(WorkingMemory).items():
        if name not in {*kept, *cleared}:
            empty = None if NoneType in get_args(hint) else (get_origin(hint) or hint)()
            grows = growing.get(name, keep_latest) is not keep_latest
            cleared[name] = Overwrite(empty) if grows else empty
    return cast("WorkingMemory", cleared)


class Source(NamedTuple):
    """A source: its query language and its contents."""

    language: str
    text: str


def sources_of(context: Context) -> dict[str, Source]:
    """The sources of a run, by tool.

    Raises:
        DatabaseUnavailable: A database is missing or does not answer.
        BadInput: A source is empty, or there is none.
    """
    if context.environment:
        return {"environment": Source("actions", describe_scene(context))}
    urls = {
        tool: url for tool, url in (("sql", context.database), ("cypher", context.graph)) if url
    }
    budget = context.schema_characters // max(1, len(urls) + context.has_documents)
    sources = {}
    for tool, url in urls.items():
        database = open_filled(url)
        schema = database.schema()
        if schema.has_only_empty_tables:  # a small model would write queries in vain
            raise BadInput("All tables of the database are empty.", fix="Fill them first.")
        text = schema_text(schema, max_characters=budget)
        sources[tool] = Source(database.language, text)
    if context.web_search:
        open_engine(context.web_search)  # fails before any model call
        sources["documents"] = Source("words", "Documents: pages of the web, by their addresses.")
    elif context.collection:
        sources["documents"] = Source("words", _list_documents(context.collection, budget))
    for name in context.tools:
        TOOLS.get(name)  # fails before any model call
        sources[name] = Source("JSON", "")
    if not sources and context.retrievals:
        raise BadInput(
            "No database and no document collection is connected.",
            fix="Give one of the settings `database`, `graph`, `collection` and `web_search`; on "
            "the command line, --database, --graph, --collection or --web-search, or first "
            "`planweave docs add FILE`.",
        )
    return sources


def _list_documents(collection: str, budget: int) -> str:
    """The names of the documents, or only their number if not all names fit.

    The first few of many names would explain little, and small models search for what they read
    first.
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
    """The last answered questions of this conversation, without greetings."""
    exchanges: list[Exchange] = []
    question = ""
    for message in messages:
        if message.type == "human":
            question = message.text.strip()
        elif message.type == "ai" and question and not _is_greeting(question):
            answer = message.text.strip()
            exchanges.append(Exchange(question=_shorten(question), answer=_shorten(answer)))
            question = ""
    return exchanges[-_EXCHANGES:]


def _shorten(text: str) -> str:
    return shorten(text, _EXCHANGE_CHARACTERS)


def _last_message(state: WorkingMemory) -> str | None:
    """The chat message without an answer; None if the question comes without a message.

    A message that intake itself has added does not count: an earlier run failed on it.
    """
    last = next(reversed(state.get("messages", [])), None)
    if last is None or last.type != "human" or (last.id or "").startswith(_OWN_ID):
        return None
    return last.text
