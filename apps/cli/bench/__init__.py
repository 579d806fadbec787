"""``planweave bench``: measure methods on a benchmark, and report the results."""

from collections.abc import Callable
from functools import partial
from importlib.metadata import entry_points

from planweave.apps.cli.lazily import Home, lazy
from planweave.benchmarks.suites import OWN

EXAMPLES = """\
planweave bench shop --model embedded --limit 20

planweave bench dqa --data data/planrag-*.zip --method planrag,single_rag --database both

planweave bench report results/dqa/embedded.jsonl
"""

_HERE = "planweave.apps.cli.bench"
_SAME_NAME = ("assessor", "check", "environment", "instruction_graph", "paths", "report")
_COMMANDS = {name: name for name in _SAME_NAME} | {
    **dict.fromkeys(("abstention", "refusal"), "calibration"),
    **dict.fromkeys(("mhqa_retrieval", "rat_corpus"), "corpora"),
    "publish": "report",
}
"""The module of each command that is not made from a suite."""


def _make_suite_command(name: str) -> Callable[..., None]:
    from planweave.apps.cli.bench.common import command_of

    return command_of(name)


def _find_commands() -> dict[str, Home]:
    foreign = {entry.name: entry for entry in entry_points(group="planweave.suites")}
    suites = {name: Home(entry.module, entry.attr) for name, entry in foreign.items()}
    suites |= {name: Home(module) for name, module in OWN.items()}
    made = {
        name: home._replace(make=partial(_make_suite_command, name))
        for name, home in suites.items()
    }
    own = {name: Home(f"{_HERE}.{module}", name) for name, module in _COMMANDS.items()}
    return {name.replace("_", "-"): home for name, home in sorted((made | own).items())}


def bench() -> None:
    """Measure methods on a benchmark."""


app = lazy(bench, _find_commands())
