"""Live output of a run on the terminal: plan, thoughts, queries, facts, decision."""

from collections.abc import Sequence
from time import monotonic

from rich.console import Console
from rich.panel import Panel
from rich.syntax import Syntax
from rich.text import Text

from planweave.apps.plain import plain
from planweave.graphs.support.events import (
    ActionEvent,
    CallEvent,
    Event,
    FactEvent,
    PlanEvent,
    ProblemEvent,
    ProgressEvent,
    ReplanEvent,
    ThoughtEvent,
    TokenEvent,
)
from planweave.memory import Answer, Claim, Fact, WorkingMemory, total_usage
from planweave.nodes.shared.citation_check import CITATION, UNSUPPORTED
from planweave.nodes.support.briefing import source_text
from planweave.nodes.support.verdict import find_warning, other_reading_text
from planweave.tools.result_text import FOR_PEOPLE, table_lines
from planweave.usage import Usage

_LEXERS = {"sql": "sql", "cypher": "cypher"}
_MAX_LINES = 12
_MAX_CORRECTIONS = 3
_MAX_LETTERS = 600
"""Length of the shown end of a draft: a text must not be higher than the terminal."""


class Waiting:
    """The current activity and its duration, below the draft of the answer.

    It is redrawn with each frame of the spinner, and replaced by the checked answer.
    """

    def __init__(self) -> None:
        self._text, self._doing, self._since, self._draft = "working", "", monotonic(), ""

    def show(self, event: ProgressEvent) -> None:
        """Show the current activity."""
        doing = f"{event.role} {event.doing}"
        if doing != self._doing:
            self._doing, self._since, self._draft = doing, monotonic(), ""
        self._text = event.text

    def write(self, event: TokenEvent) -> None:
        """Add a part of the draft."""
        self._draft += event.text

    def __rich__(self) -> Text:
        cut = "…" if len(self._draft) > _MAX_LETTERS else ""
        draft = f"{cut}{self._draft[-_MAX_LETTERS:]}\n" if self._draft else ""
        return Text(plain(f"{draft}{self._text} … {monotonic() - self._since:.0f} s"))


class Story:
    """Prints each event of a run."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._cached = 0

    def show(self, event: Event) -> None:
        """Print an event."""
        match event:
            case PlanEvent(steps=steps):
                self._print_plan("Plan", steps)
            case ReplanEvent(reason=reason, steps=steps):
                self._print(f"◦ {reason}", "cyan")  # a panel title would be cut
                self._print_plan("New plan", steps)
            case ThoughtEvent(text=text):
                self._print(f"◦ {text}", "cyan")
            case ActionEvent():
                self._print_action(event)
            case FactEvent(fact=fact):
                self._print_fact(fact)
            case CallEvent(record=record):
                self._cached += record.from_cache
            case ProblemEvent(where=where, text=text):
                self._print(f"  ✗ {where}: {text}", "yellow")

    def finish(self, memory: WorkingMemory, *, in_words: bool = False) -> None:
        """Print the answer, the facts that it cites, and the usage of the run.

        ``in_words``: the question asked for a text that cites facts, not for a decision.
        """
        if not (answer := memory.get("answer")):
            if messages := memory.get("messages"):
                self._print(messages[-1].text)
            return
        self.console.print(_answer_panel(answer, in_words=in_words))
        for fact in memory["facts"]:
            if fact["number"] in answer["facts"]:
                self._print(f"  {source_text(fact)}", "dim")
        claims = memory["claims"]
        # Below a doubted decision, "1 of 1 claims supported" would read as if it were none.
        if claims and not (find_warning(answer) and all(claim["supported"] for claim in claims)):
            self._print_claims(claims)
        if runs := len(memory.get("members", ())):
            agreeing = round(memory["agreement"] * runs)
            self._print(f"{agreeing} of {runs} runs give this answer.", "dim")
        cached = f" · {self._cached} from cache (--fresh asks again)" if self._cached else ""
        self._print(f"{_usage_text(total_usage(memory['usage']))}{cached}", "dim")

    def _print(self, text: str, style: str = "") -> None:
        self.console.print(Text(plain(text), style=style))

    def _print_plan(self, title: str, plan: list[str]) -> None:
        steps = "\n".join(f"{number}. {step}" for number, step in enumerate(plan, start=1))
        self.console.print(
            Panel(Text(plain(steps)), title=title, title_align="left", border_style="cyan")
        )

    def _print_action(self, action: ActionEvent) -> None:
        if action.input and action.tool != "thinking":
            lexer = _LEXERS.get(action.tool, "text")
            self._print(f"  {action.tool}", "magenta")
            self.console.print(
                Syntax(
                    plain(action.input), lexer, word_wrap=True, padding=(0, 4), theme="ansi_dark"
                )
            )
        if action.corrected:
            self._print(f"    corrected: {_corrections_text(action.corrected)}", "dim")

    def _print_fact(self, fact: Fact) -> None:
        lines = _fact_lines(fact)
        more = [f"… {len(lines) - _MAX_LINES} more lines"] if len(lines) > _MAX_LINES else []
        text = "\n    ".join(lines[:_MAX_LINES] + more)
        self._print(f"  [{fact['number']}] {text}", "green")
        if fact["quote"]:
            self._print(f"      {source_text(fact)}", "dim")

    def _print_claims(self, claims: list[Claim]) -> None:
        good = sum(claim["supported"] for claim in claims)
        self._print(f"Citation check: {good} of {len(claims)} claims supported.", "dim")
        for claim in claims:
            if not claim["supported"]:
                self._print(f"  ? {claim['text']} ({claim['reason']})", "yellow")


def _corrections_text(corrected: Sequence[str]) -> str:
    """The first corrections; they may contain commas."""
    left = len(corrected) - _MAX_CORRECTIONS
    shown = "; ".join(corrected[:_MAX_CORRECTIONS])
    return f"{shown}; and {left} more" if left > 0 else shown


def _fact_lines(fact: Fact) -> list[str]:
    """The lines of a fact; a table has its exact numbers, which a model gets shortened."""
    lines = fact["text"].splitlines()
    if (table := fact.get("table")) is None:
        return lines
    columns, *_ = shown = table_lines(table["columns"], table["rows"], _MAX_LETTERS, FOR_PEOPLE)
    return [*lines[: lines.index(columns)], *shown] if columns in lines else lines


def _answer_panel(answer: Answer, *, in_words: bool) -> Panel:
    """Format the answer; if its text has no citations, they are added at its end."""
    cites = CITATION.search(answer["why"]) or UNSUPPORTED in answer["why"]
    citations = "" if cites else " " + "".join(f"[{number}]" for number in answer["facts"])
    verdict = answer.get("verdict")
    is_in_verdict = verdict and answer["unknown"].rstrip(".").lower() in verdict["text"].lower()
    unknown = "" if is_in_verdict or not answer["unknown"] else f"Not known: {answer['unknown']}"
    decided = answer["decision"] or ("" if in_words and answer["why"] else "No answer")
    is_good = not find_warning(answer) and (answer["decision"] or in_words)
    colour = "green" if is_good else "yellow"
    parts = [
        Text(plain(decided), style=f"bold {colour}"),
        Text(plain(verdict["text"] if verdict else ""), style=colour),
        Text(plain(other_reading_text(answer))),
        Text(plain(f"{answer['why']}{citations}" if answer["why"] else "")),
        Text(plain(unknown), style="yellow"),
    ]
    text = Text("\n").join(part for part in parts if part)
    return Panel(text, title="Answer", title_align="left", border_style=colour)


def _usage_text(usage: Usage) -> str:
    price = "price unknown" if usage.unpriced else f"${usage.dollars:.4f}"
    calls = "call" if usage.calls == 1 else "calls"
    return (
        f"{usage.calls} model {calls} · {usage.input_tokens} tokens read "
        f"({usage.cached_tokens} from the prompt cache) · {usage.output_tokens} written · "
        f"{usage.seconds:.1f} s · {price}"
    )
