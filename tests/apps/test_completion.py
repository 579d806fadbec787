"""What a shell offers when a person presses the Tab key."""

from pathlib import Path

from cases import cases
from command_line import CommandLine

from planweave.apps import completion
from planweave.graphs import METHODS
from planweave.models.weights import KNOWN


@cases(
    ("planweave as", ["ask"]),
    ("planweave ask --max-s", ["--max-seconds"]),
    ("planweave bench mhqa", ["mhqa", "mhqa-retrieval"]),
    ("planweave learn dqa --qu", ["--quick"]),
    ("planweave ask --method plan", ["planrag", "planrag_no_replan"]),
    ("planweave decide --model embedded:0", ["embedded:0.5b"]),
    ("planweave docs list --collection al", ["alice/energy"]),
    ("planweave ask --resume f", ["feed"]),
    ("planweave runs show ", ["feed"]),
    ("planweave ask --collection ../", []),
)
def test_values_are_offered(
    line: str, offered: list[str], planweave: CommandLine, tmp_path: Path
) -> None:
    for kept in ("data/documents/alice/energy.sqlite", "state/threads/feed.json"):
        (tmp_path / kept).parent.mkdir(parents=True)
        (tmp_path / kept).touch()
    words = line.split(" ")
    run = planweave(
        _PLANWEAVE_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=str(len(words) - 1)
    )
    assert (run.stdout.split(), run.stderr) == (offered, "")


def test_all_methods_and_models_are_offered() -> None:
    assert [*completion.methods("")] == [*METHODS]
    assert {*completion.models("embedded")} == {"embedded", *(f"embedded:{name}" for name in KNOWN)}
