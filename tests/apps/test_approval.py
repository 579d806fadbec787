"""Approval on the terminal: one key, and the person's editor for changes."""

from collections.abc import Mapping
from typing import Any

import pytest
from cases import cases
from rich.console import Console

from planweave.apps.cli.approval import ApprovalNeeded, approver

PLAN = {
    "action_requests": [
        {"name": "carry_out_plan", "args": {"plan": ["Look.", "Compare."]}, "description": "Plan?"}
    ]
}
CALL = {"action_requests": [{"name": "tide", "args": {"harbour": "Hull"}, "description": "Tide?"}]}


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    return monkeypatch


def decided(request: Mapping[str, Any], keys: str, patch: pytest.MonkeyPatch) -> Mapping[str, Any]:
    pressed = iter(keys)
    patch.setattr("click.getchar", lambda: next(pressed))
    (decision,) = approver(Console(), "x")(request)["decisions"]
    assert not [*pressed]
    return decision  # type: ignore[no-any-return]


def test_one_key_decides(terminal: pytest.MonkeyPatch) -> None:
    assert decided(PLAN, "a", terminal) == {"type": "approve"}
    assert decided(PLAN, "xA", terminal) == {"type": "approve"}
    terminal.setattr("planweave.apps.cli.approval.Prompt.ask", lambda *_, **__: "Cheaper.")
    assert decided(CALL, "r", terminal) == {"type": "reject", "message": "Cheaper."}


def test_what_is_shown_hides_nothing(
    terminal: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (plan,) = PLAN["action_requests"]
    decided({"action_requests": [plan | {"description": "Drop all.\x1b[1A\x1b[2K"}]}, "a", terminal)
    assert "Drop all.\\u001b[1A\\u001b[2K" in capsys.readouterr().out


@cases(
    (PLAN, "Look twice.\n\n Compare.\n", {"plan": ["Look twice.", "Compare."]}),
    (CALL, '{"harbour": "Ayr"}', {"harbour": "Ayr"}),
)
def test_the_editor_changes_what_is_done(
    request_: Mapping[str, Any], written: str, args: dict[str, object], terminal: pytest.MonkeyPatch
) -> None:
    shown: list[str] = []

    def edit(text: str, **_: object) -> str:
        shown.append(text)
        return written

    terminal.setattr("click.edit", edit)
    decision = decided(request_, "e", terminal)
    assert (decision["type"], decision["edited_action"]["args"]) == ("edit", args)
    assert shown[0] in ("Look.\nCompare.\n", '{\n  "harbour": "Hull"\n}\n')


def test_nonsense_is_asked_again(
    terminal: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    texts: list[str | None] = [None, "{broken", '["Ayr"]']
    terminal.setattr("click.edit", lambda *_, **__: texts.pop(0))
    assert decided(CALL, "eeea", terminal) == {"type": "approve"}
    assert capsys.readouterr().out.count("That is not a JSON object") == 2


@cases((PLAN, "The plan"), (CALL, "A call of tide"))
def test_without_a_terminal_the_run_waits(
    request_: Mapping[str, Any], what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: False)
    with pytest.raises(ApprovalNeeded, match=f"{what} waits for approval.*--resume x"):
        approver(Console(), "x")(request_)
