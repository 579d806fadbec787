"""What ``ask``, ``decide`` and ``act`` share: groups of options, and the start of a thread."""

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from planweave import BadInput
from planweave.apps import completion
from planweave.apps.options import (
    AsJson,
    Database,
    Graph,
    Model,
    Rules,
    Settings,
    TrustRole,
    context_of,
    named,
    text_of,
)
from planweave.graphs import METHODS
from planweave.tools.connect import by_kind

if TYPE_CHECKING:
    from planweave.apps.example import Example
    from planweave.memory import Input


@dataclass(frozen=True, kw_only=True)
class Sources:
    """Where facts may come from."""

    panel: ClassVar = "What is asked"
    database: Database = ""
    graph: Graph = ""
    rules: Rules = None
    trust_role: TrustRole = False

    def urls(self) -> dict[str, str | None]:
        """The databases, each by its kind."""
        return by_kind(self.database, self.graph)

    def settings(self) -> dict[str, Any]:
        """The databases, and the text of the rules."""
        return self.urls() | {"rules": text_of(self.rules, "rules") if self.rules else ""}


@dataclass(frozen=True, kw_only=True)
class Players:
    """Which method runs, and who plays its roles."""

    panel: ClassVar = "Method and model"
    method: Annotated[
        str,
        typer.Option(
            help="See `planweave methods`; chosen by the model and the sources if unset.",
            autocompletion=completion.methods,
        ),
    ] = ""
    model: Model = "embedded"
    role_model: Annotated[
        list[str] | None, typer.Option(help="Another model for a role: planner=openai:gpt-4o.")
    ] = None
    fresh: Annotated[
        bool,
        typer.Option(
            "--fresh", help="Ask models again; replies kept from earlier runs are not used."
        ),
    ] = False

    def settings(self) -> dict[str, Any]:
        """The settings of a run that say who plays its roles."""
        models = named(self.role_model, "--role-model", "planner=openai:gpt-4o")
        return {"model": self.model, "models": models, "fresh": self.fresh}


@dataclass(frozen=True, kw_only=True)
class LimitOptions:
    """How long a run may go on, and any setting besides."""

    panel: ClassVar = "Limits and settings"
    max_iterations: Annotated[int, typer.Option(help="Actions at most.")] = 15
    max_calls: Annotated[
        int | None, typer.Option(help="Budget of model calls; up to two more write the answer.")
    ] = None
    max_tokens: Annotated[int | None, typer.Option(help="Budget of tokens.")] = None
    max_seconds: Annotated[
        float | None, typer.Option(help="Budget of seconds; a call under way is cut off.")
    ] = None
    max_dollars: Annotated[float | None, typer.Option(help="Budget of dollars.")] = None
    setting: Settings = None

    def settings(self) -> dict[str, Any]:
        """The limits, and over everything what was given as ``--setting``."""
        limits = asdict(self)
        return limits | named(limits.pop("setting"), "--setting", "max_reply_tokens=1024")


@dataclass(frozen=True, kw_only=True)
class Bounds(LimitOptions):
    """When a run plans again, how long it may go on, what it withholds, any setting besides."""

    replan: Annotated[
        str, typer.Option(help="adaptive, or every_observation (as in the paper).")
    ] = "adaptive"
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Withhold a decision that does not follow from the facts: exit 7."
        ),
    ] = False


@dataclass(frozen=True, kw_only=True)
class Telling:
    """Which thread goes on, and in which form it is shown."""

    panel: ClassVar = "Thread and output"
    resume: Annotated[
        str,
        typer.Option(
            help="Go on with a thread: ask a further question, or continue what was interrupted.",
            autocompletion=completion.threads,
        ),
    ] = ""
    as_json: AsJson = False


def begin(
    question: str,
    settings: dict[str, Any],
    players: Players,
    *,
    plan: Path | None = None,
    command: str,
    as_json: bool,
    example: "Example | None" = None,
) -> None:
    """Put a question to a method in a new thread."""
    from planweave.apps.cli.answering import answer
    from planweave.apps.threads import Thread, new_id
    from planweave.graphs.support.choice import choose
    from planweave.nodes.shared.intake import sources_of

    if not question.strip():
        raise BadInput(
            "There is no question.", fix=f'Write it after the command: planweave {command} "…".'
        )
    asked = METHODS.get(players.method) if players.method else None
    context = context_of({**players.settings(), **settings})
    if asked and context.approve and "plan_approval" not in asked.builder.nodes:
        raise BadInput(
            f"The method {asked.name} makes no plan that could be approved.",
            fix="Leave out --approve, or choose --method planrag or agent_v3.",
        )
    start: Input = {"question": question}
    if plan:
        start["predefined_plan"] = text_of(plan, "plan").splitlines()
    sources_of(context)  # what is not there is reported before anything else
    choice = choose(context, with_plan=plan is not None)
    method = players.method or choice.method
    thread = Thread(id=new_id(), method=method, context=context, example=example)
    thread.check_models()
    thread.save()
    reason = "" if players.method else choice.reason
    answer(thread, start, command=command, as_json=as_json, reason=reason)


def check_resumed(given: typer.Context, *used: str) -> None:
    """Refuse options that change nothing: a thread goes on as it was begun."""
    known = {"resume", "as_json", *used}
    for one in given.command.params:
        source = given.get_parameter_source(one.name or "")
        if source and source.name == "COMMANDLINE" and one.name not in known:
            raise BadInput(
                f"{one.opts[0]} has no effect with --resume: a thread goes on with its settings.",
                fix="Leave it out, or ask anew without --resume.",
            )


def go_on(
    question: str, sources: Sources, telling: Telling, given: typer.Context, *, command: str
) -> None:
    """Put a further question to a thread, or go on with one that was interrupted."""
    from planweave.apps.cli.answering import answer
    from planweave.apps.threads import load_thread, memory_now
    from planweave.nodes.shared.intake import sources_of

    check_resumed(given, "question", "database", "graph", "trust_role")
    thread = load_thread(telling.resume, sources.urls())
    further: Input | None = {"question": question} if question else None
    if further:
        thread = replace(thread, example=None)  # its truth is that of the first question
    if further or not memory_now(thread.id).get("answer"):
        sources_of(thread.context)  # what is gone ends no run that can go on later
    answer(thread, further, command=command, as_json=telling.as_json)
