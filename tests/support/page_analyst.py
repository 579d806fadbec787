"""The perfect reader of documents: it knows which pages answer a question, and the sums.

It is a script in place of a model, for questions whose right pages and answers are published: the
energy reports of ``docs`` and the airline of ``rulearena``. It searches once for each page or topic
that it needs, finds on the pages that it is shown what the search was for, calculates once, and
answers. Where the pages do not hold all of it, it makes the search again, which goes on with the
next pages. What it costs shows what a method costs when nothing goes wrong.

It writes every form of reply that it is asked for: one action, or several at once; the task and
the answer by themselves, or with the verdict.
"""

import csv
import gzip
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Any

from scripted import Prompt, Reply, act, keep, tell

from planweave.benchmarks.suites.rules import Problem
from planweave.benchmarks.suites.rules.suite import asked

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


# -- the airline -----------------------------------------------------------------------------------

_ASIA = ("India", "China", "Japan", "South Korea", "Hong Kong")
_SOUTH = ("Panama", "South America", "Peru", "Colombia", "Ecuador", "Europe", "Israel", "Qatar")
_ORDINALS = ("first", "second", "third", "fourth")
_TOPICS = {
    "first": "first bag and second bag: fees of checked bags",
    "second": "first bag and second bag: fees of checked bags",
    "third": "third bag and fourth bag: fees of checked bags",
    "fourth": "third bag and fourth bag: fees of checked bags",
    "over": "overweight bags: fees for bags over 50 lbs, over 53 lbs and over 70 lbs",
    "oversize": "oversize bags: fees for bags over 62 in and over 65 in",
}
"""What is searched for together, by the first word of a section."""
_SAID = {  # no number that the row itself does not hold
    "over 50 lbs": "a slightly heavy bag",
    "over 53 lbs": "a heavy bag",
    "over 70 lbs": "a very heavy bag",
    "oversize bags, small": "a large bag",
    "oversize bags, large": "a very large bag",
}


def airline_cases(folder: Path, problems: Iterable[Problem]) -> list[Case]:
    """The problems whose fees stand in the printed tables as the reference has them."""
    with (folder / "fees_airline.csv").open(encoding="utf-8") as lines:
        fees = {(row["bag"], row["direction"], row["region"]): row for row in csv.DictReader(lines)}
    with gzip.open(folder / "problems.jsonl.gz", "rt", encoding="utf-8") as lines:
        facts = {line["id"]: line["facts"] for line in map(json.loads, lines)}
    tables = _tables((folder / "rules_airline.txt").read_text("utf-8"))
    made = [
        _Trip(problem, facts[problem.id], fees, tables).case()
        for problem in problems
        if facts[problem.id]["routine"] != "Cuba"  # of which not every fee is given
    ]
    return [case for case in made if case]


def _tables(text: str) -> dict[str, list[list[str]]]:
    """The rows of each table by the heading above it, the row itself as the first cell."""
    tables: dict[str, list[list[str]]] = {}
    heading = ""
    for line in text.splitlines():
        if line.startswith("#"):
            heading = line.strip("# ").casefold()
        elif line.startswith("|") and "---" not in line:
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            tables.setdefault(heading, []).append([line, *cells])
    return tables


class _Trip:
    """A passenger with bags."""

    def __init__(
        self,
        problem: Problem,
        facts: dict[str, Any],
        fees: dict[tuple[str, str, str], dict[str, str]],
        tables: dict[str, list[list[str]]],
    ) -> None:
        self.problem, self.facts, self.tables = problem, facts, tables
        self.region: str = facts["routine"]
        self.cabin: str = facts["customer_class"]
        direction = ("to region", "from region")[facts["direction"]]
        self.slots = [
            int(float(fees[(bag, direction, self.region)][self.cabin]))
            for bag in ("1", "2", "3", "4+")
        ]
        self.bags = facts["bag_list"][1:]
        self.needs: dict[str, Need] = {}

    def case(self) -> Case | None:
        """All that the problem takes; None where a fee stands in no row for the region."""
        order = min(permutations(range(len(self.bags)), min(3, len(self.bags))), key=self._total)
        places = {bag: slot for slot, bag in enumerate(order)}
        lines = [self._line(n, places.get(n, 3)) for n in range(len(self.bags))]
        if None in lines or self._total(order) != self.problem.answer:
            return None
        names = [f"bag_{bag['id']}" for bag in self.bags]
        ticket = f"total = ${self.facts['base_price']} + {' + '.join(names)}"
        searches = _searches([(need.words, need) for need in self.needs.values()])
        order_of = {need: n for n, need in enumerate(n for own in searches for n in own)}
        program = "\n".join([*(line for line in lines if line), ticket])
        for name, need in self.needs.items():
            program = program.replace(f"<{name}>", f"{{{order_of[need]}}}")
        total = f"${self._total(order):,.0f}"
        return Case(asked(self.problem), searches, program, total, self._total(order))

    def _total(self, order: Sequence[int]) -> float:
        """What the passenger pays if these bags are the first ones; free ones come first."""
        places = {bag: slot for slot, bag in enumerate(order)}
        total = self.facts["base_price"]
        for number in range(len(self.bags)):
            slot = self.slots[places.get(number, 3)]
            total += slot + max(self._large(number), self._heavy(number, free=slot == 0))
        return float(total)

    def _large(self, number: int) -> int:
        inches = sum(self.bags[number]["size"])
        return 0 if inches <= 62 else 30 if inches <= 65 else 150 if self.region in _SOUTH else 200

    def _heavy(self, number: int, *, free: bool) -> int:
        pounds = self.bags[number]["weight"]
        is_high = self.cabin in ("Business", "First") or self.region in ("Australia", "New Zealand")
        if pounds <= (70 if free and is_high else 50):
            return 0
        if pounds <= 53:
            return 30
        if pounds <= 70:
            return 200 if self.region == "Cuba" else 100
        return 450 if self.region in _ASIA else 200

    def _line(self, number: int, slot: int) -> str | None:
        """A line of the calculation; None where a fee cannot be read."""
        bag, fee = self.bags[number], self.slots[slot]
        large, heavy = self._large(number), self._heavy(number, free=fee == 0)
        names = [self._name(f"{_ORDINALS[slot]} bag", fee)]
        if large or heavy:
            size = "small" if sum(bag["size"]) <= 65 else "large"
            band = next(
                band
                for most, band in ((53, "50"), (70, "53"), (999, "70"))
                if bag["weight"] <= most
            )
            names += [self._name(f"oversize bags, {size}", large) if large else "$0"]
            names += [self._name(f"over {band} lbs", heavy) if heavy else "$0"]
        known = [name for name in names if name]
        if len(known) < len(names):
            return None
        extra = f" + max({', '.join(known[1:])})" if known[1:] else ""
        note = f"item {bag['id']}, {_ORDINALS[slot]} bag"
        return f"bag_{bag['id']} = {known[0]}{extra}  # {note}"

    def _name(self, section: str, fee: int) -> str | None:
        """What the calculation calls a fee, which is then to be found; None if it is not there."""
        if section not in self.needs:
            row = self._row(section, fee)
            if not row:
                return None
            words = f"{_TOPICS[section.partition(' ')[0]]}, {self.region}"
            statement = f"The fee for {_SAID.get(section, f'the {section}')} is ${fee}."
            self.needs[section] = Need(words, _flat(row[0]), statement, f"${fee}")
        return f"<{section}>"

    def _row(self, section: str, fee: int) -> list[str]:
        """The row for the region with this fee; empty if there is none."""
        names = [self.region, "All Regions"]
        names += ["South America"] if self.region in ("Peru", "Colombia", "Ecuador") else []
        start = section.partition(",")[0]
        for heading, rows in self.tables.items():
            if not heading.startswith(start):
                continue
            for row in rows:
                place = re.sub(r"\([^)]*\)", "", row[1])
                if f"${fee}" in row[2:] and any(name in place for name in names):
                    return row
        return []
