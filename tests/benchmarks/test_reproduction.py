"""The list of the papers' tables: complete, its commands known, its page up to date."""

import re
import shlex
from pathlib import Path

import pytest
import typer
from cases import cases
from typer.core import TyperGroup
from typer.testing import CliRunner

from planweave import BadInput
from planweave.apps.cli import main
from planweave.apps.cli.reproduce import reproduce
from planweave.benchmarks import reproduction
from planweave.benchmarks.reproduction import PaperTable, papers

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
    table = PaperTable(table="", shows="", runs=(command,), limit=20, differs="")
    (filled,) = reproduction.commands(
        [table], data=Path("D"), out=Path("OUT"), limit=None, model=""
    )
    words = shlex.split(filled)
    known = typer.main.get_command(main.app)
    while isinstance(known, TyperGroup):
        with known.make_context("planweave", [*words], resilient_parsing=True) as context:
            _, found, words = known.resolve_command(context, words)
        assert found is not None
        known = found
    with known.make_context("planweave", words):  # raises where an option is unknown or missing
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
    assert "figure 4.4 (A.7, A.8" in listed
    fewer = run("agents", "--table", "a.6", "--limit", "1", "--data", "D", "--dry-run")
    assert "bench prompt-format" in fewer
    assert "--trials 1" in fewer
    texts = run("rat", "--table", "2", "--model", "openai:gpt-4o", "--data", "D", "--dry-run")
    assert "rat-writing/openai-gpt-4o.jsonl --judge openai:gpt-4o" in texts
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
