"""The list of the papers' tables: complete, its commands known, its page up to date."""

import re
import shlex
from importlib import import_module
from pathlib import Path

import pytest
import typer
from cases import cases
from typer.core import TyperGroup
from typer.testing import CliRunner

from planweave import BadInput
from planweave.apps.cli.reproduce import reproduce
from planweave.benchmarks import reproduction
from planweave.benchmarks.reproduction import papers

ROOT = Path(__file__).parents[2]

app = typer.Typer()
app.command()(reproduce)
RUNS = sorted({run for one in papers() for table in one.tables for run in table.runs})


def run(*words: str) -> str:
    done = CliRunner().invoke(app, words)
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.output


def test_every_table_of_a_paper_is_listed() -> None:
    for name, count in (("planrag", 12), ("instructrag", 14), ("rat", 8)):  # numbered throughout
        numbers = [t.table for t in reproduction.paper(name).tables if t.table.isdecimal()]
        assert sorted(map(int, numbers)) == [*range(1, count + 1)]


@pytest.mark.parametrize("command", RUNS)
def test_every_command_is_understood(command: str) -> None:
    filled = command.format(data="D", dqa="D/dqa", out="OUT", limit=20, model="embedded:0.5b")
    group, name, *words = shlex.split(filled)
    commands = typer.main.get_command(import_module(f"planweave.apps.cli.{group}").app)
    assert isinstance(commands, TyperGroup)
    with commands.make_context(group, [name, *words], resilient_parsing=True) as context:
        _, known, _ = commands.resolve_command(context, [name, *words])
    assert known is not None
    with known.make_context(name, words):  # raises where an option is unknown or missing
        pass


def test_the_page_is_made_from_the_list() -> None:
    page = (ROOT / "docs/reproduction.md").read_text("utf-8")
    assert run("--markdown") == page, "planweave reproduce --markdown > docs/reproduction.md"
    for link in re.findall(r"\]\(\.\./(results/[^)]+)\)", page):
        assert (ROOT / link).is_file(), link


def test_a_table_shows_its_commands_with_the_options_given(tmp_path: Path) -> None:
    shown = run("furepa", "--table", "irrelevant", "--limit", "3", "--data", "D", "--dry-run")
    assert "--method furepa,furepa-irrelevant-2" in shown
    assert "--limit 3" in shown
    spaced = run("furepa", "--table", "irrelevant", "--data", "my data", "--dry-run")
    assert "my data" in shlex.split(spaced)
    assert "nothing to run" in run("rat", "--table", "7")
    listed = run()
    assert "figure 4.4" in listed
    assert all(one.name in listed for one in papers())


@cases(
    (("rag",), "no paper 'rag'"),
    (("rat", "--table", "99"), "no table '99'"),
    (("planrag", "--table", "3", "--limit", "2"), "on the whole set"),
    (("planrag", "--table", "3", "--data", "/nowhere"), "no folder /nowhere"),
)
def test_an_unknown_name_is_an_error(words: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        run(*words)


def test_a_command_that_fails_ends_the_run(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["planrag", "--table", "3", "--data", str(tmp_path)])
    assert done.exit_code == 1
