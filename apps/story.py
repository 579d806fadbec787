"""A run told on the terminal as it happens: plan, thoughts, queries, facts, decision."""

from collections.abc import Mapping
from typing import Any

from langgraph.types import Overwrite
from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.syntax import Syntax
from rich.text import Text

from planweave.apps.plain import plain
from planweave.memory import Answer, Claim, Fact, Page, Replan, Turn, WorkingMemory, total_usage
from planweave.nodes.briefing import source_text
from planweave.nodes.citation_check import CITATION
from planweave.nodes.reviser import revision_text
from planweave.nodes.verdict import is_good
from planweave.usage import Usage

_LEXERS = {"sql": "sql", "cypher": "cypher"}
_SHOWN_LINES = 12
_CARRIERS = ("grader", "reader")
"""Nodes that only pass the action of their search on."""
_REMARKS = {
    "question": "understood as",
    "objection": "plan rejected",
    "reason": "goes on",
    "task": "task",
}


class Story:
    """Prints each node's update."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._queries: list[str] = []
        self._plan_steps = 0
        self._done: list[int] = []

    def tell(self, node: str, update: Mapping[str, Any]) -> None:
        """Print what one node has added to working memory."""
        if node == "intake":  # it only empties the working memory for the question
            return
        if node in ("planner", "plan_approval", "path_selector") and update.get("plan"):
            self._plan("Plan", update["plan"])
        self._thoughts(update)
        self._ticks(update)
        if node == "documents":
            self._pages(update.get("pages", []))
        elif (action := update.get("action")) and action["thought"] and node not in _CARRIERS:
            self.console.print(Text(plain(f"● {action['thought']}"), style="bold"))
        turns = [] if node == "reflector" else update.get("turns", [])  # it empties them
        given = update.get("facts", [])
        facts = given.value if isinstance(given, Overwrite) else given  # an ensemble's, all at once
        for turn in turns:
            self._turn(turn, [fact for fact in facts if fact["number"] in turn["facts"]])
        for change in update.get("replans", []):
            self._replan(change)
        for failure in update.get("failures", []):
            self.console.print(
                Text(plain(f"  ! {failure['role']}: {failure['detail']}"), style="yellow")
            )

    def _ticks(self, update: Mapping[str, Any]) -> None:
        """The steps of the plan that are done, where more are than before."""
        self._plan_steps = len(update["plan"]) if "plan" in update else self._plan_steps
        done = update.get("done_steps", self._done)
        if set(done) - {*self._done}:
            numbers = ", ".join(map(str, done))
            text = f"✓ {len(done)} of {self._plan_steps} steps done: {numbers}"
            self.console.print(Text(text, style="cyan"))
        self._done = done

    def _thoughts(self, update: Mapping[str, Any]) -> None:
        """What roles said on the way: drafts, what retrieval changed in them, tasks, reasons."""
        if draft := update.get("draft"):
            self._plan("Draft", draft)
        for revision in update.get("revisions", []):
            self.console.print(Text(plain(revision_text(revision)), style="cyan"))
        for lesson in update.get("reflections", []):
            said = f"◦ trial {lesson['trial']} scored {lesson['score']:.2f}: {lesson['text']}"
            self.console.print(Text(plain(said), style="cyan"))
        for grounded in update.get("grounded", []):
            said = f"◦ grounded: {grounded['question']} {grounded['answer']}"
            self.console.print(Text(plain(said), style="cyan"))
        self._queries = update.get("candidate_queries") or self._queries
        for query, score in zip(self._queries, update.get("query_scores", ()), strict=False):
            self.console.print(Text(plain(f"◦ query {score:.2f}: {query}"), style="cyan"))
        for part, words in _REMARKS.items():
            if remark := update.get(part):
                self.console.print(Text(plain(f"◦ {words}: {remark}"), style="cyan"))

    def finish(self, memory: WorkingMemory, *, in_words: bool = False) -> None:
        """Print the decision, the facts that it cites, and what the run used.

        ``in_words``: the question was for a text that cites facts, not for a decision.
        """
        if not (answer := memory.get("answer")):
            if messages := memory.get("messages"):
                self.console.print(Text(plain(messages[-1].text)))
            return
        self.console.print(_answer(answer, in_words=in_words))
        for fact in memory["facts"]:
            if fact["number"] in answer["facts"]:
                self.console.print(Text(plain(f"  {source_text(fact)}"), style="dim"))
        if claims := memory["claims"]:
            self._claims(claims)
        if runs := len(memory.get("members", ())):
            agreeing = round(memory["agreement"] * runs)
            self.console.print(Text(f"{agreeing} of {runs} runs give this answer.", style="dim"))
        self.console.print(Text(_used(total_usage(memory["usage"])), style="dim"))

    def _plan(self, title: str, plan: list[str]) -> None:
        steps = "\n".join(f"{number}. {step}" for number, step in enumerate(plan, start=1))
        self.console.print(
            Panel(Text(plain(steps)), title=title, title_align="left", border_style="cyan")
        )

    def _turn(self, turn: Turn, facts: list[Fact]) -> None:
        if turn["input"] and turn["tool"] != "thinking":
            lexer = _LEXERS.get(turn["tool"], "text")
            self.console.print(Text(f"  {turn['tool']}", style="magenta"))
            self.console.print(
                Syntax(
                    plain(turn["input"]), lexer, word_wrap=True, padding=(0, 4), theme="ansi_dark"
                )
            )
        for fact in facts:
            lines = fact["text"].splitlines()
            more = (
                [f"… {len(lines) - _SHOWN_LINES} more lines"] if len(lines) > _SHOWN_LINES else []
            )
            text = "\n    ".join(lines[:_SHOWN_LINES] + more)
            self.console.print(Text(plain(f"  [{fact['number']}] {text}"), style="green"))
            self._provenance(fact)
        if turn["problem"]:
            self.console.print(Text(plain(f"  ✗ {turn['problem']}"), style="yellow"))

    def _replan(self, change: Replan) -> None:
        self._plan(f"New plan: {escape(plain(change['reason']))}", change["after"])

    def _pages(self, pages: list[Page]) -> None:
        if pages:
            found = ", ".join(f"{page['document']} p. {page['page']}" for page in pages)
            self.console.print(Text(plain(f"  found {found}"), style="dim"))

    def _provenance(self, fact: Fact) -> None:
        if fact["quote"]:
            self.console.print(Text(plain(f"      {source_text(fact)}"), style="dim"))
        if fact["faithfulness"] is not None:
            said = f"      faithfulness {fact['faithfulness']:.2f}"
            self.console.print(Text(said, style="dim"))

    def _claims(self, claims: list[Claim]) -> None:
        good = sum(claim["supported"] for claim in claims)
        self.console.print(
            Text(f"Citation check: {good} of {len(claims)} claims supported.", style="dim")
        )
        for claim in claims:
            if not claim["supported"]:
                text = f"  ? {claim['text']} ({claim['reason']})"
                self.console.print(Text(plain(text), style="yellow"))


def _answer(answer: Answer, *, in_words: bool) -> Panel:
    """The answer; where facts are not cited in its text, they are cited at the end."""
    told = CITATION.search(answer["why"]) is not None
    citations = "" if told else " " + "".join(f"[{number}]" for number in answer["facts"])
    unknown = f"Not known: {answer['unknown']}"
    verdict = answer.get("verdict")
    decided = answer["decision"] or ("" if in_words else "No decision")
    colour = "green" if is_good(answer) and (answer["decision"] or in_words) else "yellow"
    parts = [
        Text(plain(decided), style=f"bold {colour}"),
        Text(plain(verdict["text"] if verdict else ""), style=colour),
        Text(plain(f"{answer['why']}{citations}" if answer["why"] else "")),
        Text(plain(unknown if answer["unknown"] else ""), style="yellow"),
    ]
    text = Text("\n").join(part for part in parts if part)
    title = "Answer" if in_words else "Decision"
    return Panel(text, title=title, title_align="left", border_style=colour)


def _used(usage: Usage) -> str:
    price = "price unknown" if usage.unpriced else f"${usage.dollars:.4f}"
    return (
        f"{usage.calls} model calls · {usage.input_tokens} tokens read "
        f"({usage.cached_tokens} from the prompt cache) · {usage.output_tokens} written · "
        f"{usage.seconds:.1f} s · {price}"
    )
