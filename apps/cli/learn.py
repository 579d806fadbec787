"""``planweave learn``: agents that learn from their own successes."""

from planweave.apps.cli.lazily import Home, lazy

EXAMPLES = """\
planweave learn dqa --quick --out learned

planweave learn agent --scenario sourcing --model embedded:0.5b --out learned-agent
"""

app = lazy(
    "Learn from the successes of simulated decisions.",
    {
        "agent": Home("planweave.apps.cli.learn_agent", "agent"),
        "dqa": Home("planweave.apps.cli.learn_dqa", "dqa"),
    },
)
