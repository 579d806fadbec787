"""``planweave dqa``: fetch the published Decision QA data set, check and describe it."""

from planweave.apps.cli.lazily import Home, lazy

app = lazy(
    "The published Decision QA data set.",
    {
        "check": Home("planweave.apps.cli.dqa_data", "check"),
        "download": Home("planweave.apps.cli.dqa_data", "download"),
        "stats": Home("planweave.apps.cli.dqa_data", "stats"),
    },
)
