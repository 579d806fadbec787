"""``planweave settings``, and the page of the docs that it makes."""

import json
import re
import shlex
from importlib import import_module
from pathlib import Path

from command_line import CommandLine, assert_one_clear_error

from planweave.apps.cli.main import COMMANDS
from planweave.apps.cli.settings import page
from planweave.memory import Context, callers, settings

PAGE = Path(__file__).parents[2] / "docs" / "settings.md"


def test_the_page_of_the_docs_is_this_one() -> None:
    made = page()
    assert PAGE.read_text("utf-8") == made, "run: planweave settings --markdown > docs/settings.md"
    assert all(f"| `{name}` |" in made for name in Context.model_fields)


def test_every_setting_is_described() -> None:
    assert [*settings()] == [*Context.model_fields]
    assert all(field.description for field in Context.model_fields.values())
    assert {"web_search", "owner", "paths"} <= callers("never")


def test_a_method_shows_what_it_reads(planweave: CommandLine) -> None:
    told = json.loads(planweave("settings", "--method", "rat", "--json").stdout)
    names = {row["name"] for row in told}
    assert {"retrievals", "model", "max_calls"} <= names
    assert not names & {"proposals", "trials", "ensemble_of"}
    assert "retrievals" in planweave("settings").stdout
    assert_one_clear_error(planweave("settings", "--method", "magic"), "no method 'magic'")


def test_examples_are_commands(planweave: CommandLine) -> None:
    for name in COMMANDS:
        examples = getattr(import_module(f"planweave.apps.cli.{name}"), "EXAMPLES", "")
        for command in filter(None, re.split(r"\n+| && ", examples)):
            run = planweave(*shlex.split(command)[1:], "--help")
            assert (run.returncode, run.stderr) == (0, ""), command


def test_help_wraps_only_where_the_terminal_ends(planweave: CommandLine) -> None:
    shown = planweave("learn", "dqa", "--help", COLUMNS="300").stdout
    assert "their card, and the curve of accuracy against experience" in shown
