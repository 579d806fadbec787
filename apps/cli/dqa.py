"""``planweave dqa``: check and describe the published Decision QA data set."""

from planweave.apps.cli.lazily import Home, lazy

EXAMPLES = """\
git clone https://github.com/myeon9h/PlanRAG

planweave dqa check --data PlanRAG
"""

app = lazy(
    "The published Decision QA data set.",
    {
        "check": Home("planweave.apps.cli.dqa_data", "check"),
        "stats": Home("planweave.apps.cli.dqa_data", "stats"),
    },
)
