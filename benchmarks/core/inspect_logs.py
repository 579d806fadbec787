"""Results as Inspect logs, which ``inspect view`` opens, and suites as Inspect tasks.

With the extra ``inspect``, ``planweave bench NAME … --log inspect`` writes a log for each method
next to the result file. Inspect can also run a suite; the options of its command are then task
arguments::

    inspect eval planweave/suite --model none -T name=shop -T method=planrag -T model=embedded
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from inspect_ai import Task
from inspect_ai import task as as_task
from inspect_ai.dataset import Sample as InspectSample
from inspect_ai.event import ModelEvent
from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalLog,
    EvalMetric,
    EvalPlan,
    EvalPlanStep,
    EvalResults,
    EvalSample,
    EvalScore,
    EvalSpec,
    EvalStats,
    write_eval_log,
)
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
    ModelUsage,
)
from inspect_ai.scorer import Score, mean, scorer, stderr
from inspect_ai.solver import solver
from pydantic import TypeAdapter

from planweave.benchmarks.core import runner
from planweave.benchmarks.core.metrics import accuracy, group_by_method
from planweave.benchmarks.core.record import DEFAULTS, Called, Record
from planweave.benchmarks.core.store import Results
from planweave.benchmarks.core.suite import SUITES
from planweave.benchmarks.core.suite import suite as suite_of
from planweave.memory import Context

_ROLES = {"system": ChatMessageSystem, "ai": ChatMessageAssistant}
_SCORE = "score"


# -- logs of results -------------------------------------------------------------------------------


def write_logs(results: Results, folder: Path) -> list[Path]:
    """Write a log for each method, with every model call; return the files."""
    written = []
    for label, records in group_by_method([*results.records.values()]).items():
        name = re.sub(r"[^A-Za-z0-9.=]+", "-", f"{label} {records[0].model}").strip("-")
        written.append(folder / f"{name}.eval")
        write_eval_log(_log(label, records, results), written[-1])
    return written


def _log(label: str, records: Sequence[Record], results: Results) -> EvalLog:
    first, head = records[0], results.runs[-1]
    measures = SUITES.get(first.suite).measures
    found = accuracy(records)
    metrics = {"mean": found.value, "stderr": found.error} if found else {}
    return EvalLog(
        status="success",
        eval=EvalSpec(
            created=head.started,
            task=first.suite,
            task_id=label,
            task_args={"method": label},
            solver=label,
            model=first.model,
            dataset=EvalDataset(name=first.suite, samples=len(records)),
            config=EvalConfig(),
            packages=head.versions,
            metadata={"command": head.command, "settings": first.settings, "data": head.data},
        ),
        plan=EvalPlan(steps=[EvalPlanStep(solver=label)]),
        results=EvalResults(
            total_samples=len(records),
            completed_samples=sum(not record.error for record in records),
            scores=[
                EvalScore(
                    name=measures,
                    scorer=measures,
                    metrics={n: EvalMetric(name=n, value=v) for n, v in metrics.items()},
                )
            ],
        ),
        stats=EvalStats(
            started_at=head.started,
            completed_at=max(record.started for record in records),
            model_usage={
                first.model: _usage([call for record in records for call in record.calls])
            },
        ),
        samples=[*_samples(records, measures)],
    )


def _samples(records: Sequence[Record], measures: str) -> Iterator[EvalSample]:
    """The records as samples; each trial of a question is one epoch."""
    epochs: Counter[str] = Counter()
    for record in records:
        name = " ".join(filter(None, (record.question, record.database)))
        epochs[name] += 1
        yield _sample(record, measures, name, epochs[name])


def _sample(record: Record, measures: str, name: str, epoch: int) -> EvalSample:
    """A record as a sample: its calls are events, and the last call is the conversation."""
    answer = record.score.answer or ""
    return EvalSample(
        id=name,
        epoch=epoch,
        input=record.question,
        target="",
        messages=_messages(record),
        output=ModelOutput.from_content(record.model, answer),
        scores={measures: _score(record)},
        metadata=_metadata(record),
        events=[_event(call, record) for call in record.calls],
        model_usage={record.model: _usage(record.calls)},
        total_time=record.seconds,
        started_at=record.started,
    )


def _metadata(record: Record) -> dict[str, Any]:
    """What happened in a run, as in the result file."""
    kept = {"scenario", "error", "plan", "turns", "facts", "replans", "failures", "claims"}
    return record.model_dump(mode="json", include=kept, exclude_defaults=True)


def _score(record: Record) -> Score:
    score = record.score
    return Score(
        value=score.value,
        answer=score.answer,
        explanation=record.error or score.explanation,
        metadata=score.details,
    )


def _prompt(call: Called, texts: Sequence[str]) -> list[ChatMessage]:
    return [_ROLES.get(role, ChatMessageUser)(content=texts[at]) for role, at in call.prompt]


def _messages(record: Record) -> list[ChatMessage]:
    if not record.calls:
        return []
    last = record.calls[-1]
    return [*_prompt(last, record.texts), ChatMessageAssistant(content=last.record.reply)]


def _event(call: Called, record: Record) -> ModelEvent:
    made = call.record
    output = ModelOutput.from_content(made.model, made.reply, error=made.error or None)
    output.usage, output.time = _usage([call]), made.seconds
    return ModelEvent(
        model=made.model,
        role=made.role,
        input=_prompt(call, record.texts),
        tools=[],
        tool_choice="none",
        config=GenerateConfig(),
        output=output,
    )


def _usage(calls: Sequence[Called]) -> ModelUsage:
    made = [call.record for call in calls]
    read, written = (sum(one.input_tokens for one in made), sum(one.output_tokens for one in made))
    return ModelUsage(input_tokens=read, output_tokens=written, total_tokens=read + written)


# -- suites as tasks -------------------------------------------------------------------------------


def suite_task(name: str, settings: dict[str, Any] | None = None, **options: Any) -> Task:
    """The suite ``name`` as a task that runs and scores its methods as ``planweave bench`` does.

    ``options`` and ``settings`` name the models; Inspect's own model is not used.
    """
    benchmark = suite_of(name)
    parsed = TypeAdapter(benchmark.Options).validate_python(options)
    context = Context.model_validate({**DEFAULTS, **parsed.settings(), **(settings or {})})
    samples = {one.key: one for one in benchmark.select(parsed, context, lambda _: None).samples}

    def solve() -> Any:
        async def run(state: Any, _: Any) -> Any:
            record = await runner.carry_out(samples[str(state.sample_id)])
            state.messages = _messages(record) or state.messages
            state.output = ModelOutput.from_content(record.model, record.score.answer or "")
            state.metadata |= _metadata(record)
            state.store.set(_SCORE, _score(record).model_dump())
            return state

        return run

    def scored() -> Any:
        async def read(state: Any, _: Any) -> Any:
            return Score.model_validate(state.store.get(_SCORE))

        return read

    return Task(
        name=name,
        dataset=[
            InspectSample(
                id=key, input=one.asked, metadata={"question": one.question, "method": one.method}
            )
            for key, one in samples.items()
        ],
        solver=solver(name="planweave")(solve)(),
        scorer=scorer(metrics=[mean(), stderr()], name=benchmark.measures)(scored)(),
    )


suite = as_task(suite_task, name="suite")
