"""Nodes that are given nothing to work on."""

from langgraph.runtime import Runtime

from planweave.memory import Context
from planweave.nodes.acting.path_selector import path_selector
from planweave.nodes.shared.agreement import agreement


def test_without_candidates_no_path_is_selected() -> None:
    given = {"question": "Which?", "candidate_paths": []}
    assert path_selector(given, Runtime(context=Context())) == {}  # type: ignore[arg-type]


def test_runs_without_any_answer_agree_on_nothing() -> None:
    found = agreement({"question": "Which?", "members": []})
    assert found["agreement"] == 0
    assert found["answer"]
    assert found["answer"]["decision"] is None
