"""``planweave dqa``: check and describe the published Decision QA data set."""

from planweave.apps.cli.lazily import Home, lazy

EXAMPLES = """\
planweave dqa check --data PlanRAG

planweave dqa stats --data PlanRAG
"""

app = lazy(
    "The published Decision QA data set, a clone of https://github.com/myeon9h/PlanRAG.",
    {
        "check": Home("planweave.apps.cli.dqa_data", "check"),
        "stats": Home("planweave.apps.cli.dqa_data", "stats"),
    },
)
