"""Records of a benchmark's result file with their scores, to be changed where a test needs it."""

from planweave.benchmarks.core.record import Record, Score
from planweave.memory import Answer


def record(
    question: str = "locating-1", method: str = "planrag", value: float = 0.0, **changed: object
) -> Record:
    """A finished sample; ``changed`` are fields of :class:`Record`."""
    fields: dict[str, object] = {
        "key": f"{question}/{method}",
        "suite": "dqa",
        "question": question,
        "scenario": question.partition("-")[0],
        "method": method,
        "database": "graph" if "suite" not in changed else "",
        "model": "m",
        "settings": {},
        "started": "2026-01-01T00:00:00+00:00",
        "seconds": 1.0,
        "score": score(value, improves=True),
    }
    return Record.model_validate(fields | changed)


def score(value: float, said: str | None = "x", /, **details: object) -> Score:
    """What a suite says of an answer, with details of its own."""
    fields = {"value": value, "answer": said, "explanation": "", "details": details}
    return Score.model_validate(fields)


def answered(decision: str | None, *, why: str = "", unknown: str = "") -> Answer:
    """An answer that cites nothing."""
    return Answer(decision=decision, why=why, facts=[], unknown=unknown)
