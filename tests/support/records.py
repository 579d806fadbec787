"""A record of a benchmark's result file, to be changed where a test needs it."""

from planweave.benchmarks.core.record import Record, Score


def record(
    question: str = "locating-1", method: str = "planrag", value: float = 0.0, **changed: object
) -> Record:
    """A finished sample; ``changed`` are fields of :class:`Record`."""
    score = Score(value=value, answer="x", explanation="", details={"improves": True})
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
        "score": score,
    }
    return Record.model_validate(fields | changed)
