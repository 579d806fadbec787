from collections.abc import Sequence
from functools import partial
from pathlib import Path

import bench_command
import pytest
from cases import cases
from langchain_core.messages import BaseMessage
from records import record, score
from snapshots import compare
from speaking import speaks

from planweave.benchmarks.core.metrics import group_by_method
from planweave.benchmarks.core.record import Record
from planweave.benchmarks.core.store import read
from planweave.benchmarks.suites.prompt_format.checks import CHECKS, repeats
from planweave.benchmarks.suites.prompt_format.suite import FORMATS, Wording, can_continue, task
from planweave.benchmarks.suites.prompt_format.tables import format_tables

bench = partial(bench_command.bench, "prompt-format")

FOLLOWED = {
    "one_word": ["Mercury", "Mercury.", "semi-metal"],
    "three_bullets": ["- Honey\n- A dry hive\n- A cluster", "-Honey\n\n-Wax\n-Warmth\n"],
    "json_keys": ['{"river": "Danube", "city": "Vienna", "country": "Austria"}'],
    "german": [
        "Die Blätter werden gelb, weil das Chlorophyll abgebaut wird.",
        "Im Herbst baut der Baum den grünen Farbstoff ab. Gelb und Rot bleiben.",
    ],
    "no_letter_e": ["A dog has four furry limbs."],
    "capitals": ["TAKE WATER, A MAP AND 2 HATS!", "ÄPFEL"],
    "digits": ["150"],
    "twelve_words": [
        "A lighthouse warns ships of rocks at night.",
        "It guides ships, which would else miss 1.5 miles of it.",
    ],
    "word_twice": ["The harbour wakes. Gulls circle the Harbour."],
    "last_sentence": ["Yeast lifts the dough. That is all I know."],
    "numbered_five": ["1. Saw\n2. Plane\n3. Chisel\n4. Hammer\n5. Rule", "1.a\n2.b\n3.c\n4.d\n5.e"],
    "no_comma": ["Take apples and pears and plums."],
    "one_question": ["What will you use it for?", "Do you ride more than 1.5 hours?"],
    "tags": ["<reply>The moon's pull.</reply>", "<reply>\nThe moon\n</reply>"],
}
NOT_FOLLOWED = {
    "one_word": ["", "...", "It is mercury", "Mercury!?  Yes"],
    "three_bullets": ["- Honey\n- Wax", "Bees need:\n- a\n- b\n- c", "1. a\n2. b\n3. c", "-\n-\n-"],
    "json_keys": [
        '{"city": "Vienna", "country": "Austria"}',
        '{"city": "Vienna", "country": "Austria", "river": "Danube", "size": 2}',
        '```json\n{"city": "a", "country": "b", "river": "c"}\n```',
        '["city", "country", "river"]',
        "{city: 'Vienna'}",
    ],
    "german": [
        "",
        "Leaves turn yellow in autumn because the green fades.",
        "Die Blätter und der Baum. Two sentences are enough for this.",
        "Les feuilles deviennent jaunes.",
    ],
    "no_letter_e": ["A dog looks like a wolf, only smaller.", "É bom cão", "Dog", ""],
    "capitals": ["Take WATER", "123", ""],
    "digits": ["150 minutes", "1,500", "150.", "²", ""],
    "twelve_words": [
        "A lighthouse is a tower that sends out light so that ships can find it.",
        "It warns. It guides.",
        "Light",
    ],
    "word_twice": ["The harbour wakes.", "harbour harbour harbour", "Harbours and a harbour."],
    "last_sentence": ["That is all I know.", "Yeast lifts. That is all I know. Bye.", "It lifts."],
    "numbered_five": [
        "1. a\n2. b\n3. c\n4. d",
        "Tools:\n1. a\n2. b\n3. c\n4. d\n5. e",
        "1. a\n2. b\n3. c\n5. d\n4. e",
    ],
    "no_comma": ["Apples, pears and plums are good.", "Apples"],
    "one_question": ["Buy a red one.", "Nice. What for?", "What for? Which size?", "Why?"],
    "tags": ["Moon", "<reply></reply>", "So: <reply>a</reply>", "<reply>a</reply><reply>b</reply>"],
}


def test_every_prompt_has_its_check() -> None:
    assert FOLLOWED.keys() == NOT_FOLLOWED.keys() == CHECKS.keys()


@pytest.mark.parametrize("name", CHECKS)
def test_an_instruction_is_followed_or_not(name: str) -> None:
    assert task(name).user != task(name).assistant
    for text in FOLLOWED[name]:
        assert CHECKS[name](text), text
    for text in NOT_FOLLOWED[name]:
        assert not CHECKS[name](text), text


@cases(
    ("no no no", True),
    ("No, no!", False),
    ("red blue, red blue, red blue", True),
    ("red blue red blue red green", False),
    ("one two three four five six seven eight", False),
    ("A b c d e f g h, and then once more: a b c d e f g h.", True),
    ("A b c d e f g, and then once more: a b c d e f g.", False),
    (" ".join(f"w{n}" for n in range(20)) * 3, True),
    ("", False),
    *((text, False) for texts in FOLLOWED.values() for text in texts),
)
def test_repetition(text: str, expected: bool) -> None:
    assert repeats(text) is expected


def test_what_the_model_is_sent() -> None:
    sent = {f"{n}, {style}": Wording(n, style, 1).messages for n in CHECKS for style in FORMATS}
    compare("prompt_format", sent)


@cases('Gazetteer: {"city": 1}', '"city": 1}')
def test_a_prefix_counts_as_part_of_the_reply_and_the_role_does_not(sent: str) -> None:
    assert Wording("json_keys", "prefix", 1).whole(sent) == '{"city": 1}'
    assert Wording("json_keys", "system", 1).whole(sent) == sent
    assert Wording("one_word", "roles", 1).whole("Chemist: Mercury ") == "Mercury"
    assert Wording("one_word", "plain", 1).whole("Chemist: Mercury ") == "Chemist: Mercury"


def _record(name: str, style: str, temperature: float, value: float) -> Record:
    found = score(value, trial=1, repeats=False, characters=100, cut=False)
    shown, settings = f"temperature {temperature}", {"temperature": temperature}
    return record(
        name, style, suite="prompt_format", scenario=shown, score=found, settings=settings
    )


def test_only_plain_text_of_the_same_temperature_is_compared() -> None:
    drawn = (("plain", 0.0, 1.0), ("roles", 0.0, 0.0), ("roles", 1.0, 0.0))
    records = [_record("a", *each) for each in drawn]
    [row] = bench_command.rows(format_tables(records), "Formats against plain text")
    assert row == ["roles temperature=0.0", "1", "-100.0%", "0", "1", "1.000"]
    assert len(group_by_method(records)) == 3


def _obedient(messages: Sequence[BaseMessage]) -> str:
    """Follows every instruction, except in a system message."""
    if messages[0].type == "system":
        return "here, so sorry, " * 50
    name = next(name for name in CHECKS if task(name).instruction in messages[0].text)
    return FOLLOWED[name][0]


def test_the_command_and_its_resumption(tmp_path: Path) -> None:
    words = ("--model", speaks(_obedient), "--out", tmp_path, "--setting", "max_reply_tokens=64")
    first = bench(*words, "--trials", 1, "--temperature", "0")
    assert "The format prefix is skipped" in first.output
    assert "0 done before, 42 to do" in first.output
    assert "instruction following" in first.output
    more = bench(*words, "--temperature", "0", "--json")
    assert "42 done before, 42 to do" in more.output
    tables = bench_command.printed(more)
    followed = {row[0]: row[1] for row in tables["Instruction following"]}
    values = {name: cell["value"] for name, cell in followed.items()}
    assert values == {"plain": 1.0, "roles": 0.0, "system": 0.0}
    assert followed["plain"]["clusters"] == 14
    repetition = {row[0]: (row[1]["value"], row[3]) for row in tables["Repetition and length"]}
    assert repetition == {"plain": (0.0, 0), "roles": (1.0, 28), "system": (1.0, 28)}
    assert "Methods on the same questions" not in tables
    [path] = tmp_path.glob("*.jsonl")
    assert len(read(path).records) == 84
    forced = bench(*words, "--temperature", "0", "--trials", 1, "--format", "prefix")
    assert "0 done before, 14 to do" in forced.output


def test_which_models_continue_a_prefix() -> None:
    assert can_continue("embedded:0.5b")
    assert can_continue("embedded")
    assert not can_continue("openai:gpt-4.1-mini")
