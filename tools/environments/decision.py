"""Decision QA as an environment: queries on a question's database, then a decision.

An instruction of a path is a query with slots, such as the flow into the home that a question
names (``learning/queries``); who follows the path looks up what fills them.
"""

from collections.abc import Sequence
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from planweave import BadInput, PlanweaveError
from planweave.simulators.published import load_dataset
from planweave.simulators.registry import scenario
from planweave.simulators.scenario import Question
from planweave.tools.connect import open_database
from planweave.tools.database import Database, Limits
from planweave.tools.environments.base import (
    OPEN,
    LocalEnvironment,
    Observation,
    Task,
    first_action,
)
from planweave.tools.environments.opening import environment
from planweave.tools.result_text import result_text
from planweave.tools.schema_text import schema_text

_VERBS = ("sql", "cypher", "finish")
_GENERATED = ("locating", "building")
_NUMBER, _SIZE = 20, 300
_KINDS = ("sql", "cypher")
_LIMITS = Limits(seconds=10, rows=40)


class DecisionQA(LocalEnvironment):
    """Decisions over a database; the score is 1 for a best decision and 0 for any other.

    ``SQL[query]`` and ``Cypher[query]`` read the question's database in either form;
    ``Finish[decision]`` ends.

    Args:
        data: A clone or archive in the published layout; without one the questions are generated.

    Raises:
        BadInput: The data cannot be read.
    """

    name = "decision"

    def __init__(self, data: Path | None) -> None:
        questions = load_dataset(data).questions if data else _generated()
        self._questions = {q.id: q for q in questions if q.database is not None}
        self._folder = TemporaryDirectory(prefix="planweave-decision-")
        self._names = count()
        self._open: dict[str, Database] = {}
        self._question: Question | None = None

    def tasks(self, split: str = "") -> Sequence[Task]:
        """See :class:`Environment`; a split is a scenario, such as locating."""
        found = [
            Task(id=q.id, kind=q.scenario.name, question=q.prompt)
            for q in self._questions.values()
            if split in ("", q.scenario.name)
        ]
        if not found:
            raise BadInput(f"There are no questions of a scenario {split!r}.")
        return found

    def reset(self, task: Task) -> Observation:
        """See :class:`Environment`; first the business rules and both schemas are seen."""
        self._forget()
        self._question = question = self._questions[task.id]
        schemas = (schema_text(self._database(kind, question).schema()) for kind in _KINDS)
        return Observation("\n\n".join([question.rules, *schemas]))

    def step(self, action: str) -> Observation:
        """See :class:`Environment`."""
        parts, question = first_action(action, _VERBS), self._question
        if parts is None or question is None:
            return Observation("Invalid action. Write SQL[…], Cypher[…] or Finish[…].")
        kind, text = parts
        if kind == "finish":
            right = question.simulate().accepts(text)
            return Observation("Episode finished.", done=True, score=float(right))
        try:
            result = self._database(kind, question).run(text, _LIMITS)
        except PlanweaveError as error:
            return Observation(str(error))
        return Observation(result_text(result, max_characters=_LIMITS.characters))

    def look_up(self, tool: str, query: str) -> Sequence[str]:
        """See :class:`Environment`."""
        if self._question is None:
            return ()
        try:
            return self._database(tool, self._question).run(query, _LIMITS).texts
        except PlanweaveError:
            return ()

    def admissible(self) -> tuple[str, ...]:
        """See :class:`Environment`."""
        return f"SQL{OPEN}", f"Cypher{OPEN}", f"Finish{OPEN}"

    def close(self) -> None:
        """See :class:`Environment`."""
        self._forget()
        self._folder.cleanup()

    def _database(self, kind: str, question: Question) -> Database:
        if kind not in self._open:
            assert question.database is not None  # noqa: S101 (only such questions are kept)
            sql = kind == "sql"
            script = question.database.sql if sql else question.database.cypher
            file = Path(self._folder.name, f"{next(self._names)}.{'sql' if sql else 'cql'}")
            file.write_text(script, encoding="utf-8")
            self._open[kind] = open_database(str(file))
        return self._open[kind]

    def _forget(self) -> None:
        for database in self._open.values():
            database.close()
        self._open.clear()


def _generated() -> list[Question]:
    scenarios = [scenario(name) for name in _GENERATED]
    seeds = range(1, _NUMBER + 1)
    return [one.ask(one.generate(seed, _SIZE), seed) for one in scenarios for seed in seeds]


@environment("decision")
def connect(data: Path | None) -> DecisionQA:
    """Open the environment."""
    return DecisionQA(data)
