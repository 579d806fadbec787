"""``planweave learn``: agents that learn from their own successes."""

from planweave.apps.cli.lazily import Home, lazy

app = lazy(
    "Learn from the successes of simulated decisions.",
    {
        "agent": Home("planweave.apps.cli.learn_agent", "agent"),
        "dqa": Home("planweave.apps.cli.learn_dqa", "dqa"),
    },
)
