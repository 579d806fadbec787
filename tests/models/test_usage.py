"""Usage adds up, prices are found, budgets end runs."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from cases import cases
from langchain_core.messages import HumanMessage
from pydantic import ValidationError
from scripted import register

from planweave import BadInput
from planweave.memory import Context, WorkingMemory
from planweave.models import CallRecord, chat_model, price_of, process_settings, usage_by_role
from planweave.models.call import call
from planweave.nodes.support.limits import OUT_OF_TIME, budget_spent, limit_call_time
from planweave.usage import Budget, Meter, Usage, current_end, metered


def record(role: str, dollars: float | None = 0.5) -> CallRecord:
    return CallRecord(
        role=role,
        model="m",
        input_tokens=100,
        output_tokens=10,
        cached_tokens=40,
        seconds=2,
        dollars=dollars,
    )


def test_usage_adds_up_per_run_and_per_role() -> None:
    records = [record("planner"), record("judge", None), record("planner")]
    total = sum((one.usage for one in records), Usage())
    tokens = {"input_tokens": 300, "output_tokens": 30, "cached_tokens": 120}
    assert total == Usage(calls=3, **tokens, seconds=6, dollars=1, unpriced=1)
    by_role = usage_by_role(records)
    assert list(by_role) == ["planner", "judge"]
    assert by_role["planner"] + by_role["judge"] == total


def test_price_of_a_call() -> None:
    price = price_of("openai:gpt-4o")
    assert price is not None
    # 600 fresh tokens at 2.5, 400 cached at 1.25 and 100 written at 10 dollars a million
    assert price.dollars(1000, 100, 400) == pytest.approx(0.0015 + 0.0005 + 0.001)
    older = price_of("openai:gpt-4")  # which has no price of cached tokens
    assert older is not None
    assert older.dollars(1000, 0, 1000) == older.dollars(1000, 0, 0)


def test_prices_by_name() -> None:
    assert price_of("openai:gpt-4o-2024-08-06") == price_of("openai:gpt-4o")
    assert price_of("openai:gpt-4o-2024-05-13") != price_of("openai:gpt-4o")
    assert price_of("openai:never-heard-of") is None
    assert price_of("http://host/v1#gpt-4o") is None
    for free in ("embedded", "embedded:0.5b", "ollama:qwen3"):
        price = price_of(free)
        assert price is not None
        assert price.dollars(1000, 1000, 0) == 0


@pytest.fixture
def prices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "prices.json"
    settings = process_settings().model_copy(update={"prices": path})
    monkeypatch.setattr("planweave.models.usage.process_settings", lambda: settings)
    return path


def test_user_prices_override(prices: Path) -> None:
    prices.write_text(json.dumps({"http://host/v1#m": {"input": 1, "output": 2}}))
    price = price_of("http://host/v1#m")
    assert price is not None
    assert price.output == 2
    assert price_of("openai:gpt-4o") is not None


@cases("", "{", '{"m": {"input": "x"}}', '{"m": {"inptu": 1}}')
def test_wrong_price_file_is_told(text: str, prices: Path) -> None:
    prices.write_text(text)
    with pytest.raises(BadInput, match=r"prices\.json is not as it should be"):
        price_of("m")


@cases(
    (Budget(), 0.5, None),
    (Budget(calls=3, tokens=331, seconds=7, dollars=2), 0.5, None),
    (Budget(calls=2), 0.5, "2 model calls"),
    (Budget(tokens=220), 0.5, "220 tokens"),
    (Budget(seconds=4), 0.5, "4 seconds"),
    (Budget(dollars=1), 0.5, "1 dollars"),
    (Budget(calls=9), None, None),
    (Budget(dollars=9), None, "price is unknown"),
)
def test_budget(budget: Budget, price: float | None, words: str | None) -> None:
    reason = budget.exhausted(record("a").usage + record("b", price).usage)
    assert reason is None if words is None else reason is not None and words in reason


@pytest.mark.parametrize("field", ["calls", "input_tokens", "dollars", "seconds"])
@pytest.mark.parametrize("value", [-1, float("nan")])
def test_usage_gives_no_budget_back(field: str, value: float) -> None:
    with pytest.raises(ValidationError):
        Usage.model_validate({field: value})


async def test_a_meter_counts_every_call_of_its_run() -> None:
    meter, outside = Meter(), Meter()
    model = chat_model(register(lambda _: "hello"))
    with metered(outside), metered(meter):
        tasks = [call(model, [HumanMessage("# Your task now: the plan")]) for _ in range(3)]
        await asyncio.gather(*tasks)
    await call(model, [HumanMessage("# Your task now: the plan")])
    assert (meter.used.calls, outside.used.calls) == (3, 0)
    assert meter.used.output_tokens == 3 * (len("hello") // 4)


async def test_a_state_that_says_less_than_was_spent_lifts_no_limit() -> None:
    meter = Meter(used=Usage(calls=3, input_tokens=900))
    state: WorkingMemory = {"usage": {"planner": {"calls": 1, "input_tokens": 5000}}}
    with metered(meter):
        assert "3 model calls" in budget_spent(state, Context(max_calls=3))
        assert "5000 spent" in budget_spent(state, Context(max_tokens=5000))
        assert not budget_spent(state, Context(max_calls=4, max_tokens=5001))
        meter.budget = Budget(tokens=900)
        assert "900 tokens" in budget_spent(state, Context())
    assert not budget_spent(state, Context(max_calls=3))


LATE = {"role": "drafter", "kind": OUT_OF_TIME, "detail": "The budget of 9 seconds is used up."}


@cases(([LATE], False), ([], True))
def test_after_a_call_that_was_cut_off_no_other_is_made(failures: list[Any], asks: bool) -> None:
    """A call is timed a little later than its node: of its time something seems to be left."""
    state: Any = {"failures": failures, "usage": {"drafter": {"calls": 1, "seconds": 8.98}}}
    with limit_call_time(state, Context(max_seconds=9)):
        end = current_end()
        assert end is not None
        assert (end.left > 0) is asks
        assert end.reason == LATE["detail"]
