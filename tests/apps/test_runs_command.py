"""``planweave runs``: list, show and remove what was asked before."""

import json

from command_line import CommandLine, assert_one_clear_error
from offers import WHOLE_RUN, scripted
from openai_server import serving


def test_a_run_is_listed_shown_and_removed(planweave: CommandLine, offers: str) -> None:
    assert "No runs yet" in planweave("runs", "list").stdout
    with serving(*scripted(*WHOLE_RUN)) as model:
        planweave("decide", "--model", model.name, "Which offer?", "--database", offers)
    (kept,) = json.loads(planweave("runs", "list", "--json").stdout)
    assert kept["question"] == "Which offer?"
    assert kept["method"] == "planrag"
    assert kept["verdict"]
    assert kept["thread"] in planweave("runs").stdout
    shown = json.loads(planweave("runs", "show", kept["thread"], "--json").stdout)
    assert shown["facts"]
    assert shown["answer"]["decision"] in planweave("runs", "show", kept["thread"]).stdout
    assert_one_clear_error(planweave("runs", "remove", kept["thread"], "nobody"), "'nobody'")
    assert planweave("runs", "remove", kept["thread"]).stdout == "Removed: 1\n"
    assert json.loads(planweave("runs", "list", "--json").stdout) == []
    assert_one_clear_error(planweave("runs", "show", kept["thread"]), "no thread")
