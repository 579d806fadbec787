"""What commands print as JSON is JSON, and a terminal obeys none of it."""

import json

from cases import cases

from planweave.apps.plain import json_text


@cases(float("nan"), float("inf"), float("-inf"))
def test_a_number_that_json_does_not_know_is_null(number: float) -> None:
    def refuse(name: str) -> None:
        raise AssertionError(name)

    text = json_text({"rows": [(number, 1.5)], "more": {"x": number}})
    assert json.loads(text, parse_constant=refuse) == {"rows": [[None, 1.5]], "more": {"x": None}}


@cases("\x9b2J", "\x85", "\u202e", "\u200b", "\u2066", "\ufeff", "\U000e0041", "\ud800")
def test_what_a_terminal_would_obey_is_an_escape(hidden: str) -> None:
    text = json_text({"ä": f"é {hidden} 漢"}, indent=None)
    assert text.isprintable()
    assert json.loads(text) == {"ä": f"é {hidden} 漢"}
    assert "é" in text
    assert "漢" in text
