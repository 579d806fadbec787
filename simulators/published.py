"""Data sets in the layout of the published Decision QA benchmark: load, save, download.

The layout, at the root of a clone or archive or one folder below it::

    data/<scenario>/questions/simulated_questions.json   a list of question objects
    data/<scenario>/queries/SQL_format/<name>.sql        the relational database
    data/<scenario>/queries/LPG_format/<name>.cql        the same database as a graph; never read

Archives are read in memory, member by member; nothing is unpacked to disk.
"""

import hashlib
import json
import lzma
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from planweave.errors import BadInput, PlanweaveError
from planweave.records import writing
from planweave.simulators import registry
from planweave.simulators.scenario import Question, QuestionDatabase, Scenario, fill
from planweave.simulators.scripts import read_sql
from planweave.simulators.tables import Value, World

if TYPE_CHECKING:
    import httpx

OnRead: TypeAlias = Callable[[int, int | None], None]
ReadWorld: TypeAlias = Callable[[], World]

REPOSITORY = "https://github.com/myeon9h/PlanRAG"
COMMIT = "186b44506aaa13ee1954151f07c9a86d2a86f4b0"
"""A commit with databases of both scenarios and formats and all 101 Building questions."""
MAX_BYTES = 1_000_000_000
"""The most bytes of one data set (unpacked) or download; bounds a hostile archive."""

_MEMBER = re.compile(
    r"(?:[^/]+/)?(?:data/)?(\w+)/"
    r"(questions/(?:\w+/)?simulated_questions?\.json|queries/SQL_format/[^/]+\.sql)"
)
_FIX = (
    "Name a clone or archive that contains data/<scenario>/questions and data/<scenario>/queries."
)
_TEXTS = ("question", "business_rules")
_UNREADABLE = (
    *(OSError, EOFError, RuntimeError, NotImplementedError),  # the last two: encrypted, unknown
    *(zlib.error, lzma.LZMAError, tarfile.TarError, zipfile.BadZipFile),
)


class DownloadFailed(PlanweaveError):
    """The data set could not be fetched."""


@dataclass(frozen=True, eq=False)
class DataSet:
    """The questions of a data set, and its missing databases."""

    origin: str
    questions: tuple[Question, ...]
    missing: tuple[str, ...] = ()  # a sentence for each missing database

    @property
    def scenarios(self) -> tuple[str, ...]:
        """The names of the scenarios that have questions, in order of appearance."""
        return tuple(dict.fromkeys(question.scenario.name for question in self.questions))

    def of(self, scenario: str) -> tuple[Question, ...]:
        """The questions of one scenario."""
        return tuple(q for q in self.questions if q.scenario.name == scenario)


def load_dataset(path: str | Path) -> DataSet:
    """Load a data set from a clone, a folder or an archive (.zip, .tar, .tar.gz, .tar.xz).

    Database scripts are parsed at the first use; equal files are stored once.
    """
    path = Path(path).expanduser()
    files = _Files()
    try:
        for name, data in _read_archive(path) if path.is_file() else _read_folder(path):
            files.add(name, data)
    except _UNREADABLE as error:
        reason = type(error).__name__
        raise BadInput(f"{path} cannot be read ({reason}).", fix=_FIX) from None
    if not files.questions:
        raise BadInput(f"{path} contains no questions in the published layout.", fix=_FIX)
    questions = [q for item in files.nearest_to_root() for q in _parse_questions(item, files)]
    _refuse_twins(questions)
    return DataSet(str(path), tuple(questions), tuple(files.missing))


class _QuestionFile(NamedTuple):
    name: str
    scenario: Scenario
    data: bytes


@dataclass
class _Files:
    """The files found: question files, and scripts by scenario and name, equal ones once."""

    questions: list[_QuestionFile] = field(default_factory=list)
    scripts: dict[tuple[str, str], ReadWorld] = field(default_factory=dict)
    contents: dict[bytes, ReadWorld] = field(default_factory=dict)
    databases: dict[int, QuestionDatabase] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    size: int = 0

    def add(self, name: str, data: bytes) -> None:
        self.size += len(data)
        if self.size > MAX_BYTES:
            raise BadInput(f"The data set is larger than {MAX_BYTES:,} bytes.", fix=_FIX)
        match = _MEMBER.fullmatch(name)
        if match and match[2].startswith("questions"):
            self.questions.append(_QuestionFile(name, registry.scenario(match[1]), data))
        elif match:
            digest = hashlib.sha256(data).digest()
            if digest not in self.contents:
                self.contents[digest] = partial(read_sql, _decode(name, data), name)
            self.scripts[match[1], name.rpartition("/")[2]] = self.contents[digest]

    def nearest_to_root(self) -> list[_QuestionFile]:
        """The question files nearest to the root, per scenario; clones hold older ones deeper."""
        depth: dict[str, int] = {}
        for item in self.questions:
            level = item.name.count("/")
            depth[item.scenario.name] = min(level, depth.get(item.scenario.name, level))
        return [i for i in self.questions if i.name.count("/") == depth[i.scenario.name]]

    def database(self, scenario: Scenario, name: str, question: str) -> QuestionDatabase | None:
        """The database of this name, one object for all questions with the same script."""
        script = self.scripts.get((scenario.name, f"{name}.sql"))
        if script is None:
            self.missing.append(f"{question} has no {name}.sql.")
            return None
        return self.databases.setdefault(id(script), QuestionDatabase(scenario, script))


def _decode(name: str, data: bytes) -> str:
    if not data.strip():
        raise BadInput(f"{name} is empty.", fix="Get the file again.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadInput(f"{name} is not UTF-8 text.", fix="Get the file again.") from None


def _read_folder(path: Path) -> Iterator[tuple[str, bytes]]:
    if not path.is_dir():
        raise BadInput(f"There is no file or folder {path}.", fix=_FIX)
    for prefix in ("", "data/", "*/data/"):
        for pattern in ("questions/**/*.json", "queries/SQL_format/*"):
            for file in sorted(path.glob(f"{prefix}*/{pattern}")):
                name = file.relative_to(path).as_posix()
                if _MEMBER.fullmatch(name) and file.is_file():
                    yield name, file.read_bytes()


def _read_archive(path: Path) -> Iterator[tuple[str, bytes]]:
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for item in archive.infolist():
                if _MEMBER.fullmatch(item.filename):
                    _refuse_large(item.file_size)
                    yield item.filename, archive.read(item)
        return
    with tarfile.open(path) as tar:
        for member in tar:
            name = member.name.removeprefix("./")
            if member.isfile() and _MEMBER.fullmatch(name):
                _refuse_large(member.size)
                if file := tar.extractfile(member):
                    yield name, file.read()


def _refuse_large(size: int) -> None:
    if size > MAX_BYTES:
        raise BadInput(f"A file in the archive is larger than {MAX_BYTES:,} bytes.", fix=_FIX)


def _parse_questions(item: _QuestionFile, files: _Files) -> Iterator[Question]:
    text = _decode(item.name, item.data)
    try:
        entries = json.loads(text)
    except (ValueError, RecursionError) as error:  # also numbers without end, nesting without end
        where = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise BadInput(f"{item.name} is not JSON{where}.", fix="Get the file again.") from None
    if not isinstance(entries, list):
        raise BadInput(f"{item.name} is not a list of questions.", fix="Get the file again.")
    for number, entry in enumerate(entries, start=1):
        where = f"{item.name}, question {number}"
        if not isinstance(entry, dict):
            raise BadInput(f"{where}: not an object.", fix="Get the file again.")
        yield _parse_question(where, entry, item.scenario, number, files)


def _parse_question(
    where: str, entry: Mapping[str, object], scenario: Scenario, number: int, files: _Files
) -> Question:
    for key in _TEXTS:
        if not isinstance(entry.get(key), str):
            raise BadInput(f"{where}: {key!r} is missing.", fix="Get the file again.")
    answer = entry.get("answer")
    if isinstance(answer, bool) or not isinstance(answer, str | int):
        raise BadInput(f"{where}: 'answer' is missing.", fix="Get the file again.")
    parameters: dict[str, Value] = {"question_num": number} | {
        key: value
        for key, value in entry.items()
        if key not in (*_TEXTS, "goal", "answer") and isinstance(value, str | int | float)
    }
    name = f"{scenario.name}-{parameters['question_num']}"
    try:
        file = fill(scenario.database, parameters)
    except BadInput as error:
        raise BadInput(f"{where}: {error.problem}", fix="Get the file again.") from None
    return Question(
        id=name,
        scenario=scenario,
        text=str(entry["question"]),
        goal=str(entry.get("goal") or ""),
        rules=str(entry["business_rules"]),
        parameters=parameters,
        answer=answer,
        database=files.database(scenario, file, name),
    )


def _refuse_twins(questions: Iterable[Question]) -> None:
    seen: set[str] = set()
    for question in questions:
        if question.id in seen:
            raise BadInput(
                f"Two questions are called {question.id}.", fix="Give each its own question_num."
            )
        seen.add(question.id)


def save(questions: Iterable[Question], folder: str | Path) -> Path:
    """Write questions and their databases in the published layout."""
    folder = Path(folder)
    entries: dict[str, list[dict[str, Value]]] = {}
    written: dict[Path, str] = {}
    for question in questions:
        entries.setdefault(question.scenario.name, []).append(
            {
                "question": question.text,
                "goal": question.goal,
                "business_rules": question.rules,
                "answer": question.answer,
                **question.parameters,
            }
        )
        for file, text in _script_files(question):
            if written.setdefault(file, text) != text:
                raise BadInput(f"Two different databases would be called {file.name}.")
    for name, items in entries.items():
        text = json.dumps(items, ensure_ascii=False, indent=1) + "\n"
        written[Path(name, "questions", "simulated_questions.json")] = text
    with writing(folder):
        for file, text in written.items():
            target = folder / "data" / file
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8", newline="\n")
    return folder


def _script_files(question: Question) -> Iterator[tuple[Path, str]]:
    if question.database is None:
        return
    queries = Path(question.scenario.name, "queries")
    name = fill(question.scenario.database, question.parameters)
    yield queries / "SQL_format" / f"{name}.sql", question.database.sql
    yield queries / "LPG_format" / f"{name}.cql", question.database.cypher


def download(
    destination: str | Path,
    commit: str = COMMIT,
    *,
    progress: OnRead | None = None,
    client: "httpx.Client | None" = None,
) -> Path:
    """Fetch the public data set (MIT licence) as an archive for :func:`load_dataset`.

    A ``.json`` file next to the archive records its origin: URL, the commit that GitHub packed
    (also for a branch), SHA-256, size and time. ``destination`` is created if missing; ``commit``
    may be a branch or tag. ``progress`` receives the bytes so far and the total, if the server
    reports it.
    """
    import httpx

    if not re.fullmatch(r"[\w.-]{1,100}", commit):
        raise BadInput(f"{commit!r} is no commit.", fix="Give a commit hash, branch or tag.")
    folder, url = Path(destination), f"{REPOSITORY}/archive/{commit}.zip"
    part = folder / "planrag.zip.part"
    try:
        with writing(folder), client or httpx.Client(timeout=30) as http:
            folder.mkdir(parents=True, exist_ok=True)
            _download_to(http, url, part, progress)
            return _finish_download(part, url, commit)
    except httpx.HTTPStatusError as error:
        raise DownloadFailed(
            f"{url} answered {error.response.status_code}.", fix="Check the commit."
        ) from None
    except httpx.HTTPError as error:
        raise DownloadFailed(
            f"{url} cannot be reached ({type(error).__name__}).",
            fix="Check the network, or clone the repository elsewhere and give its path.",
        ) from None
    finally:
        with suppress(OSError):
            part.unlink()


def _download_to(http: "httpx.Client", url: str, part: Path, progress: OnRead | None) -> None:
    with http.stream("GET", url, follow_redirects=True) as reply, part.open("wb") as file:
        reply.raise_for_status()
        length = reply.headers.get("content-length", "")
        done = 0
        for block in reply.iter_bytes():
            done += file.write(block)
            if done > MAX_BYTES:
                raise DownloadFailed(f"{url} is larger than {MAX_BYTES:,} bytes.")
            if progress:
                progress(done, int(length) if length.isdigit() else None)


def _finish_download(part: Path, url: str, commit: str) -> Path:
    """Name the archive after the commit in its comment, and record its origin."""
    if not zipfile.is_zipfile(part):
        raise DownloadFailed(f"{url} is not an archive.", fix="Check the network's proxy.")
    with zipfile.ZipFile(part) as archive:
        packed = archive.comment.decode("ascii", "replace")
    if not re.fullmatch(r"[0-9a-f]{40}", packed):
        raise DownloadFailed(f"{url} does not name its commit.")
    with part.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    record = {
        "url": url,
        "asked": commit,
        "commit": packed,
        "sha256": digest,
        "bytes": part.stat().st_size,
        "fetched": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    target = part.with_name(f"planrag-{packed[:12]}.zip")
    part.replace(target)
    target.with_suffix(".json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return target
