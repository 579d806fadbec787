"""``planweave train``: train the shipped models again."""

from planweave.apps.cli.lazily import Home, lazy

EXAMPLES = """\
planweave train adapt --data mine.jsonl --task NAME --agents shipped --out mine
"""


def train() -> None:
    """Train the plan assessor, the agents of InstructRAG, or the words of refused questions."""


app = lazy(
    train,
    {
        "adapt": Home("planweave.apps.cli.train_instructrag", "adapt"),
        "instructrag": Home("planweave.apps.cli.train_instructrag", "instructrag"),
        "words": Home("planweave.apps.cli.train_words", "words"),
        "plan-assessor": Home("planweave.apps.cli.train_assessor", "plan_assessor"),
    },
)
