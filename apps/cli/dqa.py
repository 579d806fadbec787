"""``planweave dqa``: fetch the published Decision QA data set, check and describe it."""

from planweave.apps.cli.lazily import Home, lazy

EXAMPLES = """\
planweave dqa download data/

planweave dqa check --data data/dqa-dev.tar.xz
"""

app = lazy(
    "The published Decision QA data set.",
    {
        "check": Home("planweave.apps.cli.dqa_data", "check"),
        "download": Home("planweave.apps.cli.dqa_data", "download"),
        "stats": Home("planweave.apps.cli.dqa_data", "stats"),
    },
)
