"""``planweave train words``: the weights of missing words from a folder of questions."""

import json
from pathlib import Path

from command_line import CommandLine, assert_one_clear_error

from planweave.learning.question_words import read_weights


def _question(name: str, text: str, gold: str) -> str:
    line = {"id": name, "category": "c", "database": "shop", "question": text}
    more = {"golds": [gold], "ordered": [False]} if gold else {"instructions": "", "gold": ""}
    return json.dumps({**line, **more})


def test_the_command(planweave: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "databases").mkdir()
    (tmp_path / "databases" / "shop.sql").write_text("CREATE TABLE shop (name TEXT, town TEXT);")
    answered = [
        _question(f"a{n}", "Which shop is in more than one town?", "SELECT name FROM shop")
        for n in range(20)
    ]
    refused = [_question(f"u{n}", "What is the email of each shop?", "") for n in range(20)]
    (tmp_path / "questions.jsonl").write_text("\n".join(answered))
    train = ("train", "words", "--data", ".", "--out", "w.json")
    assert_one_clear_error(planweave(*train), "both kinds")
    (tmp_path / "unanswerable.jsonl").write_text("\n".join(refused))
    assert planweave(*train).returncode == 0
    weights = read_weights(tmp_path / "w.json")
    assert weights["email"] > 0 > weights["than"]
    assert not {"shop", "town"} & set(weights)
