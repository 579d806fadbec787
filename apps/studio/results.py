"""Result files of benchmarks: leaderboards and the record of each run."""

import re
from pathlib import Path

from pydantic import Field, JsonValue, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse

from planweave import BadInput
from planweave.apps.studio.access import Access
from planweave.apps.studio.guard import parameter
from planweave.benchmarks.core.metrics import group_by_method
from planweave.benchmarks.core.record import Record
from planweave.benchmarks.core.report import Report
from planweave.benchmarks.core.store import Results, Run, read_all
from planweave.state import ProcessSettings

_LONGEST_HEAD = 100_000  # bytes of a file's first line


class ResultSettings(ProcessSettings):
    """Folder of the result files (``PLANWEAVE_RESULTS_DIR``)."""

    results_dir: Path = Field(default=Path("results"))


def files(access: Access, request: Request) -> JSONResponse:
    """The result files of the folder, newest first, each with its suite, models and start."""
    folder = _folder()
    found = [
        {
            "name": path.relative_to(folder).as_posix(),
            "bytes": path.stat().st_size,
            **_read_head(path),
        }
        for path in sorted(folder.rglob("*.jsonl"))
        if _is_inside(path, folder)
    ]
    found.sort(key=lambda one: str(one["started"]), reverse=True)
    shown = folder if access.owner(request) is None else folder.name
    return JSONResponse({"folder": str(shown), "files": found})


def report(request: Request) -> JSONResponse:
    """The tables of some result files, and one entry for each finished run."""
    found = _read(request.query_params.getlist("file"))
    records = list(found.records.values())
    made = Report.of(found.runs, records)
    lines = [
        _line(record, label) for label, own in group_by_method(records).items() for record in own
    ]
    return JSONResponse({**made.as_json(), "heads": made.heads(), "records": lines})


def record(request: Request) -> JSONResponse:
    """The whole record of a finished run, with the full prompts of its calls."""
    key = parameter(request, "key")
    found = _read(request.query_params.getlist("file")).records.get(key)
    if found is None:
        raise BadInput(f"The result files contain no run {key!r}.")
    calls = [call.with_prompt(found.texts).model_dump(mode="json") for call in found.calls]
    return JSONResponse({**found.model_dump(mode="json", exclude={"texts"}), "calls": calls})


def _read_head(path: Path) -> dict[str, JsonValue]:
    """Suite, methods, models and start of the first run of a file; empty for other files."""
    with path.open("rb") as file:
        line = file.readline(_LONGEST_HEAD)
    try:
        run = Run.model_validate_json(line)
    except ValidationError:
        return {"suite": "", "methods": "", "models": "", "started": ""}
    named = re.search(r"--method[ =](\S+)", run.command)
    return {
        "suite": run.suite,
        "methods": named[1] if named else "",
        "models": ", ".join(run.models),
        "started": run.started,
    }


def _line(record: Record, label: str) -> dict[str, JsonValue]:
    return {
        "key": record.key,
        "group": label,
        "question": record.question,
        "scenario": record.scenario,
        "database": record.database,
        "value": record.score.value,
        "answer": record.score.answer,
        "explanation": record.score.explanation,
        "error": record.error,
        "calls": len(record.calls),
        "tokens": record.tokens,
        "seconds": record.seconds,
        "dollars": record.dollars,
    }


def _read(names: list[str]) -> Results:
    folder = _folder()
    if not names:
        raise BadInput("No result file is named.")
    paths = [folder / name for name in names]
    for name, path in zip(names, paths, strict=True):
        if path.suffix != ".jsonl" or not _is_inside(path, folder):
            raise BadInput(f"There is no result file {name!r}.", fix="Choose one that is listed.")
    return read_all(
        paths, notify=lambda _: None
    )  # an active run may not have finished its last line


def _is_inside(path: Path, folder: Path) -> bool:
    """Whether a path is a file in the folder after links are resolved."""
    try:
        resolved = path.resolve()
    except ValueError:  # the character NUL
        return False
    return resolved.is_relative_to(folder) and resolved.is_file()


def _folder() -> Path:
    return ResultSettings().results_dir.resolve()
