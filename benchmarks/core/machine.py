"""The machine, versions and command of a run, for the head of its result file."""

import os
import platform
import re
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from pydantic import JsonValue

from planweave.models import process_settings

_PACKAGES = ("planweave", "langgraph", "langchain-core", "langchain-openai", "xllamacpp", "kglite")
_FOLDERS = re.compile(r"((?<![\w:/])|(?<=embedded:))(~|\.{1,2})?/([^/]+/)*")


def machine() -> dict[str, JsonValue]:
    """Processor, cores, memory and platform."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "platform": platform.platform(),
    }


def versions() -> dict[str, str]:
    """Versions of Python and of the installed packages that results depend on."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def model_settings() -> dict[str, JsonValue]:
    """The process's model settings that results depend on, without keys and addresses."""
    return process_settings().model_dump(
        mode="json", include={"n_ctx", "threads", "response_cache", "timeout", "retries"}
    )


def git_commit() -> str:
    """Git commit of the code, with ``+`` if files have changed since; empty outside a clone."""
    root = Path(__file__).resolve().parents[2]

    def git(*words: str) -> str:
        line = ["git", "-C", str(root), *words]
        done = subprocess.run(line, capture_output=True, text=True, check=True)  # noqa: S603
        return done.stdout.strip()

    if not (root / ".git").exists():
        return ""
    try:
        head = git("rev-parse", "--short=12", "HEAD")
        return head + "+" * bool(git("status", "--porcelain", "--untracked-files=no"))
    except (OSError, subprocess.CalledProcessError):
        return ""


def describe_run() -> dict[str, JsonValue]:
    """The command, date, machine, versions and commit of this run."""
    return {
        "command": command(),
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine(),
        "versions": {**versions()},
        "commit": git_commit(),
    }


def command() -> str:
    """The command line, with only the last part of each path."""
    return " ".join(["planweave", *(_FOLDERS.sub("", word) for word in sys.argv[1:])])


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
