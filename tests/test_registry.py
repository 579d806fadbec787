"""Things by name: our own, registered ones, and those of installed packages."""

import json
import sys
import types
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import cast

import pytest
from cases import cases

from planweave import BadInput
from planweave.apps.cli.methods import page
from planweave.graphs import METHODS, Family, method
from planweave.registry import Registry

ROOT = Path(__file__).parents[1]


@pytest.fixture
def words(monkeypatch: pytest.MonkeyPatch) -> Registry[str]:
    """Words: one of our own, and three that a package brings."""
    brought = {"brought": "outside:WORD", "broken": "outside:absent", "number": "outside:NUMBER"}
    outside = types.ModuleType("outside")
    outside.__dict__.update(WORD="hello", NUMBER=3)
    monkeypatch.setitem(sys.modules, "outside", outside)

    def entries(*, group: str, name: str = "") -> list[EntryPoint]:
        assert group == "planweave.words"
        return [EntryPoint(n, value, group) for n, value in brought.items() if name in ("", n)]

    monkeypatch.setattr("planweave.registry.entry_points", entries)
    registry: Registry[str] = Registry(
        "long word", accepts=lambda found: isinstance(found, str), own={"own": "us"}
    )
    us = types.ModuleType("us")
    monkeypatch.setitem(sys.modules, "us", us)
    registry.add("own", "ours")
    return registry


def test_what_is_ours_registered_or_brought_is_found(words: Registry[str]) -> None:
    words.add("added", "new")
    assert (words.get("own"), words.get("added"), words.get("brought")) == ("ours", "new", "hello")
    assert [*words] == ["own", "added", "brought", "broken", "number"]
    words.remove("added")
    assert "added" not in words


def test_a_name_belongs_to_one_thing(words: Registry[str]) -> None:
    assert words.add("own", words.get("own")) == "ours"
    with pytest.raises(BadInput, match="already a long word 'own'"):
        words.add("own", "another")


@cases(
    ("absent", r"There is no long word 'absent'\. The long words are: own, brought"),
    ("broken", r"outside:absent cannot be loaded \(AttributeError: .*absent"),
    ("number", "outside:NUMBER is no long word"),
)
def test_what_cannot_be_had_is_told(name: str, sentence: str, words: Registry[str]) -> None:
    with pytest.raises(BadInput, match=sentence):
        words.get(name)


def test_a_broken_one_hides_nothing(words: Registry[str], caplog: pytest.LogCaptureFixture) -> None:
    assert words.usable() == {"own": "ours", "brought": "hello"}
    assert [record.getMessage().partition(" (")[0] for record in caplog.records] == [
        "The long word outside:absent cannot be loaded",
        "outside:NUMBER is no long word. Repair or uninstall the package that brings it.",
    ]


def test_a_method_has_a_known_family() -> None:
    with pytest.raises(BadInput, match=r"no family 'dance'\. The families are: decide, "):
        method("waltz", family=cast("Family", "dance"))


def test_langgraph_json_names_every_method() -> None:
    graphs = json.loads((ROOT / "langgraph.json").read_text("utf-8"))["graphs"]
    assert graphs == {
        name: {"path": f"planweave.graphs.{name}:graph", "description": graphs[name]["description"]}
        for name in METHODS
    }


def test_the_page_of_graphs_is_current() -> None:
    made = (ROOT / "docs" / "graphs.md").read_text("utf-8")
    assert made == page(), "run: planweave methods --markdown > docs/graphs.md"
    assert all(f"## {name}\n" in made for name in METHODS.names())
