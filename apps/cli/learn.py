"""``planweave learn``: learn from successful decisions."""

from planweave.apps.cli.lazily import Home, lazy

EXAMPLES = """\
planweave learn dqa --quick --out learned

planweave learn dqa --scenario sourcing --seeds 1,2,3 --out learned
"""


def learn() -> None:
    """Learn from successful simulated decisions."""


app = lazy(learn, {"dqa": Home("planweave.apps.cli.learn_dqa", "dqa")})
