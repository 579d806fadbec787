"""Several rankings made into one."""

from collections.abc import Sequence


def reciprocal_rank(rankings: Sequence[Sequence[int]], *, k: int = 60) -> list[tuple[int, float]]:
    """Fuse rankings by reciprocal rank (Cormack, Clarke & Büttcher 2009, section 2).

    Args:
        rankings: Each names what it found, best first.
        k: Lessens what the first ranks weigh; 60 in the paper.

    Returns:
        Everything that any ranking names, with the sum of 1 / (k + rank), highest first; of equal
        ones, what was named first.
    """
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(ranking, start=1):
            scores[item] = scores.get(item, 0.0) + 1 / (k + rank)
    return sorted(scores.items(), key=lambda scored: -scored[1])
