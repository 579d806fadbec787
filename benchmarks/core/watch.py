"""The display of a running benchmark: a line for each finished sample, and a progress bar."""

from collections.abc import Iterable
from time import monotonic

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from planweave.benchmarks.core.record import Record
from planweave.benchmarks.core.suite import SUITES
from planweave.tools.result_text import one_line


class Watch:
    """Shows each finished sample and the progress; plain lines if there is no terminal.

    ``total`` includes the samples of an earlier run (``before``).
    """

    def __init__(self, console: Console, before: Iterable[Record], total: int) -> None:
        self._console, self._done, self._total = console, [*before], total
        self._inherited, self._start = len(self._done), monotonic()
        columns = (BarColumn(bar_width=16), MofNCompleteColumn(), TextColumn("{task.description}"))
        self._bar = Progress(*columns, console=console, disable=not console.is_terminal)
        self._task = self._bar.add_task(self._status_text(), total=total, completed=self._inherited)

    def __enter__(self) -> "Watch":
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def finished(self, record: Record) -> None:
        """Show a finished sample."""
        self._done.append(record)
        mark = "[red]crashed[/]" if record.error else "[green]✔[/]" if record.score.value else "✘"
        text = escape(one_line(record.error or record.score.explanation))
        name = escape(one_line(f"{record.question} {record.method} {record.database}"))
        line = f"{len(self._done)}/{self._total} {name} {mark} {text} ({record.seconds:.1f} s)"
        status = self._status_text()
        if self._console.is_terminal:
            self._console.print(line)
        else:
            self._console.print(f"{line} · {status}", soft_wrap=True)
        self._bar.update(self._task, completed=len(self._done), description=status)

    def _status_text(self) -> str:
        """Mean score so far, crashes, tokens, cost, and the time that is left."""
        if not self._done:
            return "starting"
        right = sum(record.score.value for record in self._done) / len(self._done)
        crashed = sum(bool(record.error) for record in self._done)
        tokens = sum(record.tokens for record in self._done)
        costs = [record.dollars for record in self._done]
        dollars = sum(cost for cost in costs if cost is not None)
        parts = [
            f"{SUITES.get(self._done[0].suite).measures} {right:.1%}",
            f"{crashed} crashed" if crashed else "",
            f"{tokens:,} tokens",
            f"${dollars:.2f}{' + unknown prices' if None in costs else ''}",
            self._time_left(),
        ]
        return " · ".join(part for part in parts if part)

    def _time_left(self) -> str:
        made, left = len(self._done) - self._inherited, self._total - len(self._done)
        if not made or not left:
            return ""
        minutes = (monotonic() - self._start) / made * left / 60
        return f"{minutes / 60:.1f} h left" if minutes >= 90 else f"{minutes:.0f} min left"
