"""The standing attack: each file here tries one kind of attack, and the table counts them.

``make test`` tries a small sample. ``make attack`` sets ``PLANWEAVE_ATTACK=full``, tries everything
and prints the table ``class · tried · held · failed``. Generated attacks follow from
``PLANWEAVE_ATTACK_SEED``, so that each can be repeated.

A test counts as one try of the class that its file is named after (``test_other_users.py``:
"other users"). A test that tries several things, or belongs to another class, calls
``record_tried(number, failed, kind)``.
"""

import os
from collections import Counter
from pathlib import PurePath
from typing import Any

import pytest
from tally import RecordTried

_FOLDER = "tests/attacks/"

_tried: Counter[str] = Counter()
_failed: Counter[str] = Counter()
_skipped: dict[str, str] = {}


@pytest.fixture(scope="session")
def attack_is_full() -> bool:
    """Whether everything is tried, or a small sample."""
    return os.environ.get("PLANWEAVE_ATTACK") == "full"


@pytest.fixture(scope="session")
def attack_seed() -> int:
    """The seed that generated attacks follow from."""
    return int(os.environ.get("PLANWEAVE_ATTACK_SEED", "1"))


@pytest.fixture
def record_tried(request: pytest.FixtureRequest) -> RecordTried:
    """Count ``number`` attacks, of which ``failed`` were not held off.

    Record before the assertion that may fail.
    """

    def record(number: int, failed: int, kind: str = "") -> None:
        request.node.user_properties.append(("attack", [number, failed, kind]))

    return record


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add one finished test to the table."""
    if not report.nodeid.startswith(_FOLDER) or (report.when != "call" and report.passed):
        return
    kind = PurePath(report.nodeid.partition("::")[0]).stem.removeprefix("test_").replace("_", " ")
    if report.skipped:
        _skipped[kind] = str(report.longrepr[2] if isinstance(report.longrepr, tuple) else "")
        return
    recorded: list[Any] = [value for name, value in report.user_properties if name == "attack"]
    recorded = recorded or [(1, 0, kind)]
    for number, failed, named in recorded:
        _tried[named or kind] += number
        _failed[named or kind] += failed
    if report.failed and not any(failed for _, failed, _ in recorded):
        _failed[recorded[-1][2] or kind] += 1


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the table after the whole attack."""
    if os.environ.get("PLANWEAVE_ATTACK") != "full":
        return
    write = terminalreporter.write_line
    write("\n| class | tried | held | failed |\n|---|---:|---:|---:|")
    for kind in sorted(_tried):
        tried, failed = _tried[kind], _failed[kind]
        write(f"| {kind} | {tried:,} | {tried - failed:,} | {failed:,} |")
    for kind, reason in sorted(_skipped.items()):
        write(f"Some of {kind} was not tried: {reason}")
