"""The perfect reader of documents: it knows which pages answer a question, and the sums.

It is a script in place of a model, for questions whose right pages and answers are known: those of
the energy reports of ``docs``, and a price list. It searches once for each page that it needs,
finds on the pages that it is shown what the search was for, calculates once, and answers. Where
the pages do not hold all of it, it makes the search again, which goes on with the next pages. What
it costs shows what a method costs when nothing goes wrong.

It writes every form of reply that it is asked for: one action, or several at once; the task and
the answer by themselves, or with the verdict.
"""

import gzip
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripted import Prompt, Reply, act, keep, tell

AT_ONCE = 3
"""Findings that one search brings at most."""

# Of the calculations of ``docs``: what is calculated, from numbers that the pages give.
_SUMS = {
    "h10": "worth = 9 kg * USD 85 per tonne to USD",
    "h11": "added = 10 kg * USD 140 per tonne to USD",
    "h12": "factor = 0.09 / (1 - 1.09 ** -20)  # annuity\ncost = 950 * factor",
    "h13": "larger = (49 - 43) / 43",
    "h14": "gap = 11 - (3.4 + 0.7)",
    "h18": "subsidy = 1250 / 280",
}


@dataclass(frozen=True)
class Need:
    """Something to be found.

    Attributes:
        words: What finds its page.
        quote: As it stands on the page.
        statement: What it says; by this it is known again.
        value: Its number with its unit; empty if only its words matter.
    """

    words: str
    quote: str
    statement: str
    value: str = ""


@dataclass(frozen=True)
class Case:
    """A question and all that it takes.

    Attributes:
        question: As it is asked.
        searches: What each search is to find.
        program: For the calculator, ``{0}`` for the first need's name; empty if nothing is to be
            calculated.
        answer: The right one.
        amount: The number that the calculation must come to; None if there is none.
    """

    question: str
    searches: tuple[tuple[Need, ...], ...]
    program: str
    answer: str
    amount: float | None = None

    @property
    def needs(self) -> list[Need]:
        """All that is to be found."""
        return [need for search in self.searches for need in search]


def analyst(cases: Iterable[Case]) -> Callable[[Prompt], Reply]:
    """The script that answers these questions, from nothing but what each prompt says."""
    known = list(cases)

    def reply(prompt: Prompt) -> Reply:
        case = next(case for case in known if case.question in prompt.text)
        return _reply(prompt, case)

    return reply


def _reply(prompt: Prompt, case: Case) -> Reply:
    work = _Work(case, prompt.text)
    match prompt.task:
        case "plan":
            return {"steps": work.plan(with_needs='"needs"' in _form(prompt))}
        case "judge":
            return keep()
        case "task":
            return {"task": work.next_step()}
        case "read":
            return {"findings": work.findings(in_values='"values"' in _form(prompt))}
        case "verdict":
            return work.verdict(more='"answer"' in _form(prompt))
        case "answer":
            return work.answer()
        case _ if '"actions"' in _form(prompt):
            actions = work.actions()
            answer = None if actions else work.answer()
            return {"thought": "All at once.", "actions": actions, "answer": answer}
        case _:
            first = next(iter(work.actions()), None)
            return act(first["tool"], first["input"]) if first else act("finish")


def _form(prompt: Prompt) -> str:
    """The form of the reply that the prompt shows."""
    return prompt.text.rpartition("Reply with this JSON:")[2]


class _Work:
    """How far a question has come, as a prompt tells it."""

    def __init__(self, case: Case, text: str) -> None:
        self.case, self.text = case, text
        self.facts = {need: n for need in case.needs if (n := _fact(need, text))}
        self.sums = [int(n) for n in re.findall(r"^Fact \[(\d+)\]: ", text, re.MULTILINE)]

    def plan(self, *, with_needs: bool) -> list[object]:
        """The steps that are left: a search for each page, then the calculation."""
        left = [search for search in self.case.searches if self._missing(search)]
        steps = [f"Search: {search[0].words[:180]}" for search in left]
        needs: list[list[int]] = [[] for _ in steps]
        if self.case.program and not self.sums:
            needs.append([*range(1, len(steps) + 1)])
            steps.append("Calculate the result from these.")
        if not with_needs:
            return [*(steps or ["Answer from the facts."])]
        first = [action | {"completes": []} for action in self.actions()]
        return [
            {"text": step, "needs": need, **(first[number] if not need else {})}
            for number, (step, need) in enumerate(zip(steps, needs, strict=True))
        ]

    def next_step(self) -> str:
        """What comes next, in words."""
        first = next(iter(self.actions()), None)
        return f"Find or calculate: {first['input'][:200]}" if first else "Answer."

    def actions(self) -> list[dict[str, Any]]:
        """All that can be done now; nothing is left when the question can be answered."""
        missing = [
            (number, need)
            for number, search in enumerate(self.case.searches, start=1)
            for need in self._missing(search)[:1]
        ]
        if missing:
            return [
                {"tool": "documents", "input": need.words, "completes": [number]}
                for number, need in missing
            ]
        if not self.case.program or self.sums:
            return []
        names = [f"f{self.facts[need]}" for need in self.case.needs]
        step = len(self.case.searches) + 1
        program = self.case.program.format(*names)
        return [{"tool": "calculator", "input": program, "completes": [step]}]

    def _missing(self, search: Sequence[Need]) -> list[Need]:
        return [need for need in search if need not in self.facts]

    def findings(self, *, in_values: bool) -> list[dict[str, object]]:
        """What a search was to find, as far as the pages that are shown hold it."""
        query = re.search(r'Pages that a search for "(.*?)" found', self.text, re.DOTALL)
        looked_for = query[1] if query else ""
        pages = re.findall(r"=== Page (\d+): .*?\n(.*?)=== End of page", self.text, re.DOTALL)
        found: list[dict[str, object]] = []
        for search in self.case.searches:
            if looked_for not in [need.words for need in search]:
                continue
            for need in self._missing(search):
                shown = [int(n) for n, text in pages if _flat(need.quote) in _flat(text)]
                if shown:
                    found.append(_finding(need, shown[0], in_values=in_values))
        return found

    def verdict(self, *, more: bool) -> dict[str, object]:
        """Whether the facts are enough, and what comes next."""
        goes_on = bool(self.actions())
        reply: dict[str, object] = {
            "reason": "Something is missing." if goes_on else "The facts tell it.",
            "verdict": "CONTINUE" if goes_on else "TERMINATE",
        }
        if more:
            reply |= {"task": self.next_step() if goes_on else ""}
            reply |= {"answer": None if goes_on else self.answer()}
        return reply

    def answer(self) -> dict[str, object]:
        """The answer with all facts, the calculation's result where there is one."""
        numbers = [*self.facts.values(), *self.sums]
        cited = "".join(f"[{number}]" for number in numbers)
        return tell(f"The answer is {self.case.answer[:300]} {cited}.", self.case.answer[:100])


def _fact(need: Need, text: str) -> int:
    """The number of the fact that states what is needed; 0 if none does."""
    stated = re.search(rf"Fact \[(\d+)\] \([^)]*\): {re.escape(need.statement)}", text)
    return int(stated[1]) if stated else 0


def _finding(need: Need, page: int, *, in_values: bool) -> dict[str, object]:
    found: dict[str, object] = {
        "page": page,
        "quote": need.quote,
        "statement": need.statement,
    }
    if in_values:
        value = [{"name": "value", "value": need.value}] if need.value else []
        return found | {"values": value}
    return found | {"number": need.value}


def _flat(text: str) -> str:
    return " ".join(text.split())


# -- the energy reports ----------------------------------------------------------------------------


def report_cases(folder: Path) -> list[Case]:
    """The questions of ``docs`` that its pages answer."""
    lines = (folder / "questions.jsonl").read_text("utf-8").splitlines()
    cases = []
    for line in map(json.loads, lines):
        pages = _pages(folder / f"{line['doc']}_pages.jsonl.gz")
        if line["pages"] and (needs := _on_pages(line, pages)):
            program = _SUMS.get(line["id"], "")
            cases.append(Case(line["question"], _searches(needs), program, line["answer"]))
    return cases


def _pages(path: Path) -> dict[int, str]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return {page["page"]: page["text"] for page in map(json.loads, lines)}


def _on_pages(line: dict[str, Any], pages: dict[int, str]) -> list[tuple[int, Need]]:
    """The evidence of a question, each with its page; nothing if one is not found there."""
    needs = []
    for evidence in line["evidence_strings"]:
        place = next((n for n in line["pages"] if evidence in pages[n]), 0)
        if not place:
            return []
        text = pages[place]
        start = text.index(evidence)
        words = text[max(0, start - 90) : start + len(evidence) + 30].split()[1:-1]
        needs.append((place, Need(_flat(" ".join(words)), evidence, f"The page says {evidence}.")))
    return needs


def _searches(needs: Sequence[tuple[object, Need]]) -> tuple[tuple[Need, ...], ...]:
    """What is on one page, or of one topic, is searched for together: a few needs at once."""
    groups: dict[object, list[Need]] = {}
    for group, need in needs:
        groups.setdefault(group, []).append(need)
    return tuple(
        tuple(own[start : start + AT_ONCE])
        for own in groups.values()
        for start in range(0, len(own), AT_ONCE)
    )


# -- a price list ----------------------------------------------------------------------------------

_FEES = {"first": 30, "second": 45, "third": 150, "fourth": 200, "overweight": 100, "oversize": 65}
PRICES = "\f".join(
    [
        f"# Price list\nThe fee for the {kind} bag is ${fee} in every region."
        for kind, fee in _FEES.items()
    ]
)
"""A page for each fee."""


def fee_cases() -> list[Case]:
    """What three bags and more cost: each fee is on a page of its own."""
    kinds = [*_FEES]
    return [_fees(kinds[:number]) for number in range(3, len(kinds) + 1)]


def _fees(kinds: Sequence[str]) -> Case:
    needs = [
        Need(f"{kind} bag", said, said, f"${_FEES[kind]}")
        for kind in kinds
        for said in [f"The fee for the {kind} bag is ${_FEES[kind]}"]
    ]
    total = sum(_FEES[kind] for kind in kinds)
    names = " + ".join(f"{{{number}}}" for number in range(len(kinds)))
    question = f"What do a {', a '.join(kinds)} bag cost together?"
    return Case(question, tuple((need,) for need in needs), f"total = {names}", f"${total}", total)
