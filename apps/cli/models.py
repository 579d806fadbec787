"""``planweave models``: the weights of the models in this process."""

from planweave.apps.cli.lazily import Home, lazy

EXAMPLES = """\
planweave models list

planweave models pull 0.5b
"""

app = lazy(
    "Weights of the models in this process.",
    {
        "list": Home("planweave.apps.cli.models_weights", "list_command"),
        "pull": Home("planweave.apps.cli.models_weights", "pull_command"),
    },
)
