"""Baselines of the papers run without aids for small models, and records list the aids."""

import pytest
from cases import cases

from planweave.benchmarks.core.record import Score
from planweave.benchmarks.core.runner import carry_out
from planweave.benchmarks.core.suite import Sample
from planweave.benchmarks.suites.dqa.suite import DecisionScorer
from planweave.graphs import METHODS
from planweave.memory import Answer, Context, WorkingMemory
from planweave.simulators.outcome import Outcome
from planweave.simulators.registry import scenario

PAPER = ("planrag", "agent_v1", "agent_v2", "agent_v3", "rat", "furepa", "instructrag")


async def play(sample: Sample, on_call: object) -> WorkingMemory:
    del sample, on_call
    return {}


class Wrong:
    """What finds no answer right."""

    def score(self, answer: Answer | None) -> Score:
        return Score(value=0, answer=None, explanation="")


def sample(method: str, **settings: object) -> Sample:
    context = Context.model_validate(settings)
    return Sample(
        suite="dqa", question="1", method=method, asked="Which?", context=context, target=Wrong()
    )


@cases("react", "single_rag", "rag-5", "genground")
async def test_a_baseline_has_no_aids_unless_they_are_asked_for(method: str) -> None:
    assert (await carry_out(sample(method), play)).aids == "off"
    record = await carry_out(sample(method, assist="on"), play)
    assert (record.aids, record.settings["assist"]) == ("on", "on")


@cases(
    ({}, "on"),
    ({"assist": "off"}, "off"),
    ({"model": "openai:gpt-4.1"}, "off"),
    ({"models": {"judge": "openai:gpt-4.1"}}, "some"),
)
async def test_a_record_names_the_roles_with_aids(settings: dict[str, object], aids: str) -> None:
    assert (await carry_out(sample("planrag", **settings), play)).aids == aids


def test_the_methods_of_the_papers_are_no_baselines() -> None:
    assert not [name for name in PAPER if METHODS.get(name).baseline]


@cases(True, False)
def test_no_decision_is_right_if_nothing_improves(
    improving: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = scenario("locating")
    question = found.ask(found.generate(1, 60), 1)
    monkeypatch.setattr(Outcome, "improving", improving)
    none: Answer = {"decision": "none", "why": "", "facts": [], "unknown": ""}
    assert DecisionScorer(question).score(none).value == float(not improving)
