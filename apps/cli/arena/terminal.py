"""The arena on the terminal: two texts side by side, one key for the answer."""

from rich.columns import Columns
from rich.console import Console, RenderableType
from rich.panel import Panel
from rich.text import Text

from planweave.apps.plain import plain
from planweave.benchmarks.arena.votes import Ballot, Match, Verdict

_WIDE = 120
_KEYS: dict[str, Verdict] = {"a": "a", "b": "b", "t": "tie", "n": "both_bad"}
_ASK = "Better? [a] [b] [t]ie, [n]either is any good, [q]uit: "


def vote_in_terminal(ballot: Ballot, console: Console) -> None:
    """Ask for each pair that is left, until there is none or the voter has had enough."""
    left = ballot.left()
    for number, match in enumerate(left, start=1):
        _show(match, f"Pair {number} of {len(left)}", console)
        verdict = _asked(console)
        if verdict is None:
            console.print("The same command goes on from here.")
            return
        ballot.cast(match, verdict)


def _show(match: Match, title: str, console: Console) -> None:
    console.rule(title)
    console.print(Text(plain(match.asked), style="bold"))
    sides: list[RenderableType] = [
        Panel(Text(plain(entry.text)), title=side, title_align="left")
        for side, entry in (("A", match.a), ("B", match.b))
    ]
    if console.width >= _WIDE:
        console.print(Columns(sides, width=console.width // 2 - 1, equal=True))
    else:
        console.print(*sides, sep="\n")


def _asked(console: Console) -> Verdict | None:
    """The answer; None to stop."""
    while True:
        try:
            typed = console.input(_ASK, markup=False).strip().lower()
        except (EOFError, KeyboardInterrupt):
            return None
        if typed in ("q", "quit"):
            return None
        if typed in _KEYS:
            return _KEYS[typed]
