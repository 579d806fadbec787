"""A model that plays every role of every method well, and a world for each method to play in."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pages import put_up
from scripted import Prompt, Reply, act, decide, finding, keep, plan, tell
from worlds import encyclopedia, solved

from planweave.graphs import METHODS
from planweave.simulators.registry import scenario

QUESTION = "What does green hydrogen cost?"
PAGE = "The levelised cost of hydrogen (LCOH) is USD 5.5/kg in 2023."
_PLANTS = """\
CREATE TABLE plant(name TEXT PRIMARY KEY, cost REAL);
INSERT INTO plant VALUES ('Aachen', 10.5), ('Bonn', 7.25), ('Cottbus', 9);
"""
_GOLD = ("Search[Finlandia]", "Search[Jean Sibelius]", "Finish[Republic of Finland]")
_SAID = tell("In 2023 it costs USD 5.5/kg [1].", "USD 5.5/kg")


class Player:
    """Plays by the prompt alone, so that it goes on rightly after a break; prompts are kept."""

    def __init__(self, moves: Sequence[tuple[str, str]]) -> None:
        self.moves = moves
        self.prompts: list[Prompt] = []

    def __call__(self, prompt: Prompt) -> Reply:
        self.prompts.append(prompt)
        known = {*re.findall(r"Fact \[(\d+)\]", prompt.text)}
        tool, given = (*self.moves, ("finish", ""))[min(len(known), len(self.moves))]
        if tool == "environment":
            return {"thought": "Now.", "question": "?", "answer": "So.", "action": given}
        thoughts = dict.fromkeys(("text", "reasoning", "criticism", "speak"), "So.")
        reasoned = {"reasoning": "It is there [1].", "queries": [given]}
        replies: dict[str, Reply] = {
            "plan": plan("Find the cost."),
            "action": act(tool, given),
            "command": {
                "thoughts": {**thoughts, "plan": ["Look."]},
                "command": {"name": tool, "input": given},
            },
            "judge": keep(),
            "task": {"task": "Find the cost."},
            "verdict": {"reason": "It is there.", "verdict": "TERMINATE"},
            "read": finding("LCOH) is USD 5.5/kg in 2023", "In 2023 it costs USD 5.5/kg."),
            "decide": decide("Bonn", 1),
            "answer": _SAID,
            "draft": {"thought": "Cost.", "steps": ["Hydrogen costs USD 1/kg."]},
            "query": {"query": "levelised cost"},
            "revise": {"text": "Hydrogen costs USD 5.5/kg.", "earlier": []},
            "reason": {**reasoned, "answer": "USD 5.5/kg" if known else None},
            "think": {"thought": "It costs USD 5.5/kg.", "answer": "USD 5.5/kg"},
            "ground": {"answer": "So."},
            "evaluate": {"notes": "Good.", "verdict": "Accept"},
            "check": {"verdicts": []},
            "interpret": {"follows_up": False, "question": "?"},
            "reflect": {"reflection": "Search first."},
        }
        return replies[prompt.task]


class World:
    """What a method is asked, with what settings, and who answers for its roles.

    Args:
        name: The method.
        folder: For its sources.
        monkeypatch: Puts up a shelf of one page.
    """

    def __init__(self, name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.settings: dict[str, Any] = {"whole_collection": "off"}
        self.question = QUESTION
        moves = [("documents", "levelised cost")]
        match METHODS.get(name).family:
            case "decide":
                path = folder / "plants.sql"
                path.write_text(_PLANTS)
                self.question = "Which plant is cheapest?"
                moves = [("sql", "SELECT name, cost FROM plant ORDER BY cost LIMIT 1")]
                self.settings |= {"database": str(path)}
            case "learned":
                building = scenario("building")
                made = building.ask(building.generate(900_001, 60), 1)
                assert made.database
                path = folder / "world.sql"
                path.write_text(made.database.sql)
                self.question = made.prompt
                candidates = tuple(map(str, made.candidates))
                self.settings |= {"database": str(path), "candidates": candidates}
            case "act":
                self.question = ""
                moves = [("environment", action) for action in _GOLD]
                self.settings |= {
                    "environment": "hotpotqa",
                    "environment_data": str(encyclopedia(folder)),
                    "environment_task": "q1",
                    "paths": str(solved(folder)),
                    "agents": "none",
                }
            case _:
                put_up(monkeypatch, ("review.pdf", 82, PAGE))
                self.settings |= {"collection": "energy", "assessor": "first"}
                self.settings |= {"ensemble_of": "agent_v1", "ensemble_runs": 2}
        self.player = Player(moves)
