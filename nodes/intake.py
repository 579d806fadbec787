"""Intake: takes the question out of the chat, checks the settings, describes the database."""

import re

from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from memory import Context, WorkingMemory
from planweave import BadInput
from tools import Database, open_database, schema_text

_GREETING = re.compile(
    r"\W*(hi|hey|hello|howdy|greetings|good (morning|afternoon|evening|day)|hallo|moin|servus|"
    r"guten (morgen|tag|abend)|bonjour|salut|hola|buenos días|ciao|hej|thanks|thank you|danke|"
    r"merci|bye|goodbye)( there| you| all| everyone| again)?\W*",
    re.IGNORECASE,
)


def intake(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Start a question: an empty working memory but for the question, the plan and the schema.

    Raises:
        BadInput: There is no question, or no database is connected.
        DatabaseUnavailable: The database cannot be opened.
    """
    asked = _unanswered_message(state)
    question = (asked or state.get("question", "")).strip()
    if not question:
        raise BadInput("There is no question.", mend="Send it as a message or as `question`.")
    greeting = _GREETING.fullmatch(question) is not None
    databases = {} if greeting else _connect(runtime.context)
    budget = runtime.context.schema_characters // max(1, len(databases))
    return {
        "messages": [] if asked else [HumanMessage(question)],
        "question": question,
        "greeting": greeting,
        "languages": {tool: database.language for tool, database in databases.items()},
        "schema_text": "\n\n".join(
            schema_text(database.schema(), max_characters=budget) for database in databases.values()
        ),
        "plan": [line for step in state.get("predefined_plan", []) if (line := step.strip())],
        "predefined_plan": [],
        "step": 1,
        "iteration": 0,
        "action": None,
        "replanning": "",
        "answer": None,
        "facts": Overwrite([]),  # type: ignore[typeddict-item]  # a new question starts afresh
        "turns": Overwrite([]),  # type: ignore[typeddict-item]
        "replans": Overwrite([]),  # type: ignore[typeddict-item]
        "failures": Overwrite([]),  # type: ignore[typeddict-item]
        "usage": Overwrite({}),  # type: ignore[typeddict-item]
    }


def _connect(context: Context) -> dict[str, Database]:
    urls = {"sql": context.database, "cypher": context.graph}
    databases = {tool: open_database(url) for tool, url in urls.items() if url}
    if not databases:
        raise BadInput(
            "No database is connected.",
            mend="Give `database` or `graph` in the run's context (--database or --graph).",
        )
    return databases


def _unanswered_message(state: WorkingMemory) -> str:
    messages = state.get("messages", [])
    return messages[-1].text if messages and messages[-1].type == "human" else ""
