"""A generated decision question: its database as a file, and its correct decision."""

import re
from dataclasses import dataclass
from typing import Any

from planweave.memory import Answer
from planweave.models import process_settings
from planweave.simulators.registry import scenario
from planweave.simulators.scenario import Question
from planweave.state import private_folder


@dataclass(frozen=True)
class Example:
    """Scenario, seed and size identify a question: the same values always generate the same one."""

    scenario: str
    seed: int
    size: int

    def question(self) -> Question:
        """Generate the question, its database and its answer."""
        plugin = scenario(self.scenario)
        return plugin.ask(plugin.generate(self.seed, self.size))

    def settings(self, *, as_graph: bool) -> dict[str, Any]:
        """Write the database to a script; return it, the rules and the candidates as settings."""
        question = self.question()
        assert question.database is not None  # noqa: S101 (a generated question has one)
        suffix, text = (
            ("cql", question.database.cypher) if as_graph else ("sql", question.database.sql)
        )
        name = re.sub(r"\W", "_", f"{self.scenario}-{self.seed}-{self.size}")
        folder = process_settings().cache_dir / "examples"
        path = private_folder(folder, "examples", "PLANWEAVE_CACHE_DIR") / f"{name}.{suffix}"
        path.write_text(text, encoding="utf-8")
        return {
            "graph" if as_graph else "database": str(path),
            "rules": question.rules,
            "candidates": [str(candidate) for candidate in question.candidates],
        }

    def verdict(self, answer: Answer | None) -> dict[str, Any]:
        """Simulate the decision: whether it is right, its rank, and the best decisions."""
        outcome = self.question().simulate()
        by_name = {str(candidate): candidate for candidate in outcome.candidates}
        decided = by_name.get(answer["decision"] or "") if answer else None
        regrets = sorted(outcome.regret(candidate) for candidate in outcome.candidates)
        return {
            "correct": decided in outcome.equivalent,
            "best": [str(candidate) for candidate in outcome.equivalent],
            "candidates": len(outcome.candidates),
            "rank": None if decided is None else 1 + regrets.index(outcome.regret(decided)),
        }
