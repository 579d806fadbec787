"""What ``ask``, ``decide`` and ``act`` share: options, and starting or resuming a thread."""

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
from planweave.tools.connect import sort_by_kind

if TYPE_CHECKING:
    from planweave.apps.example import Example
    from planweave.memory import Input


@dataclass(frozen=True, kw_only=True)
class SourceOptions:
    """Sources of facts."""

    panel: ClassVar = "Sources"
    database: Database = ""
    graph: Graph = ""
    rules: Rules = None
    trust_role: TrustRole = False

    def urls(self) -> dict[str, str | None]:
        """The URLs of the databases by their kind."""
        return sort_by_kind(self.database, self.graph)

    def settings(self) -> dict[str, Any]:
        """The URLs of the databases, and the text of the rules."""
        return self.urls() | {"rules": text_of(self.rules, "rules") if self.rules else ""}


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """The method, and the models of its roles."""

    panel: ClassVar = "Method and model"
    method: Annotated[
        str,
        typer.Option(
            help="See `planweave methods`; chosen by model and sources if unset.",
            autocompletion=completion.methods,
        ),
    ] = ""
    model: Model = "embedded"
    role_model: Annotated[
        list[str] | None, typer.Option(help="Another model for a role: planner=openai:gpt-4o.")
    ] = None
    fresh: Annotated[
        bool,
        typer.Option("--fresh", help="Ask models again, without cached replies of earlier runs."),
    ] = False

    def settings(self) -> dict[str, Any]:
        """The settings of the models."""
        models = named(self.role_model, "--role-model", "planner=openai:gpt-4o")
        return {"model": self.model, "models": models, "fresh": self.fresh}


@dataclass(frozen=True, kw_only=True)
class LimitOptions:
    """Limits of a run, and any other setting."""

    panel: ClassVar = "Limits and settings"
    max_iterations: Annotated[int, typer.Option(help="Actions at most.")] = 15
    max_calls: Annotated[
        int | None, typer.Option(help="Budget of model calls; up to two more may write the answer.")
    ] = None
    max_tokens: Annotated[int | None, typer.Option(help="Budget of tokens.")] = None
    max_seconds: Annotated[
        float | None, typer.Option(help="Budget of seconds; an active call is cancelled.")
    ] = None
    max_dollars: Annotated[float | None, typer.Option(help="Budget of dollars.")] = None
    setting: Settings = None

    def settings(self, given: typer.Context) -> dict[str, Any]:
        """The limits, and each ``--setting``, which may not repeat an option that is given."""
        limits = asdict(self)
        others = named(limits.pop("setting"), "--setting", "max_reply_tokens=1024")
        if twice := [name for name in others if _is_given(given, name)]:
            raise BadInput(
                f"The setting {twice[0]} is given twice: as an option and with --setting.",
                fix="Leave out one of them.",
            )
        return limits | others


@dataclass(frozen=True, kw_only=True)
class RunLimitOptions(LimitOptions):
    """When to plan again, what to withhold, the limits of a run, and any other setting."""

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
class ThreadOptions:
    """The thread to resume, and the format of the output."""

    panel: ClassVar = "Thread and output"
    resume: Annotated[
        str | None,
        typer.Option(
            help="Resume a thread: ask a further question, or continue an interrupted run.",
            autocompletion=completion.threads,
        ),
    ] = None
    as_json: AsJson = False


def start_thread(
    given: typer.Context,
    options: ThreadOptions,
    question: str,
    settings: dict[str, Any],
    models: ModelOptions,
    *,
    plan: Path | None = None,
    example: "Example | None" = None,
) -> None:
    """Start a new thread with a question."""
    from planweave.apps.cli.answering import answer
    from planweave.apps.threads import Thread, new_id
    from planweave.graphs.support.choice import choose
    from planweave.graphs.support.running import check_order
    from planweave.nodes.acting.environment import episode_of
    from planweave.nodes.deciding.experience import load_paths
    from planweave.nodes.shared.intake import sources_of

    if not question.strip():
        raise BadInput(
            "There is no question.",
            fix=f'Write it after the command: planweave {given.info_name} "…".',
        )
    asked = METHODS.get(models.method) if models.method else None
    context = context_of({**models.settings(), **settings})
    if asked and context.approve and "plan_approval" not in asked.builder.nodes:
        raise BadInput(
            f"The method {asked.name} makes no plan to approve.",
            fix="Leave out --approve, or choose --method planrag or agent_v3.",
        )
    start: Input = {"question": question}
    if plan:
        start["predefined_plan"] = text_of(plan, "plan").splitlines()
    sources_of(context)  # reports missing sources first
    choice = choose(context, with_plan=plan is not None)
    method = models.method or choice.method
    check_order(method, context, with_plan=plan is not None)
    if METHODS.get(method).family == "act":
        episode_of(context)  # reports a missing task
    if context.experience:
        load_paths(context.experience, context.owner)  # reports a missing file
    thread = Thread(id=new_id(), method=method, context=context, example=example)
    thread.check_models()
    thread.save()
    reason = "" if models.method else choice.reason
    answer(given, options, thread, start, reason)


def refuse_ignored_options(given: typer.Context, *used: str) -> None:
    """Refuse options that a resumed thread ignores, as it keeps its settings."""
    known = {"resume", "as_json", *used}
    for one in given.command.params:
        if one.name not in known and _is_given(given, one.name or ""):
            raise BadInput(
                f"{one.opts[0]} has no effect with --resume: a thread keeps its settings.",
                fix="Leave it out, or ask again without --resume.",
            )


def _is_given(given: typer.Context, option: str) -> bool:
    source = given.get_parameter_source(option)
    return source is not None and source.name == "COMMANDLINE"


def resume_thread(
    given: typer.Context, options: ThreadOptions, name: str, question: str, sources: SourceOptions
) -> None:
    """Ask a further question in a thread, or continue an interrupted thread."""
    from planweave.apps.cli.answering import answer
    from planweave.apps.threads import load_thread, read_memory
    from planweave.nodes.shared.intake import sources_of

    refuse_ignored_options(given, "question", "database", "graph", "trust_role")
    thread = load_thread(name, sources.urls())
    further: Input | None = {"question": question} if question else None
    if further:
        thread = replace(thread, example=None)  # it is the example of the first question
    if further or not read_memory(thread.id).get("answer"):
        sources_of(
            thread.context
        )  # reports missing sources before the run, which can be resumed later
    answer(given, options, thread, further)
