"""What every suite promises, ours or a package's: it is enough that it is registered."""

from dataclasses import MISSING, fields
from pathlib import Path

import pytest
from bench_command import bench
from cases import cases

from planweave.benchmarks.core.suite import SUITES, suite

NEEDED: dict[str, tuple[object, ...]] = {"method": ("planrag",), "family": ("code",)}
OWN_COMMAND = {"environment"}
"""Their commands are not made from their options."""


def needed(name: str) -> tuple[object, ...]:
    """The options without which its command does not start."""
    options = [one.name for one in fields(suite(name).Options) if one.default is MISSING]
    given = {option: NEEDED.get(option, ("nowhere",)) for option in options}
    return tuple(word for option, words in given.items() for word in (f"--{option}", *words))


@cases(
    ("collection=mine", "set by the benchmark itself"),
    ("rules=mine", "set by the benchmark itself"),
    ("max_iterations=0", "The setting max_iterations cannot be used"),
    ("max_seconds", "'max_seconds' is not NAME=VALUE."),
    ("replam=1", "no setting 'replam'; did you mean replan?"),
)
@pytest.mark.parametrize("name", [name for name in SUITES if name not in OWN_COMMAND])
def test_bad_settings_come_first(setting: str, sentence: str, name: str, tmp_path: Path) -> None:
    words = (name.replace("_", "-"), *needed(name), "--out", tmp_path / "out")
    bench(*words, "--setting", setting, fails=sentence)
    assert not (tmp_path / "out").exists()


@cases(
    ("dqa --data . --method magic", "There is no method 'magic'."),
    ("dqa --data . --database paper", "There is no kind of database 'paper'."),
    ("agents --data . --method planrag", "no document agent 'planrag'"),
    ("agents --data . --set hard", "no set of questions 'hard'"),
    ("mhqa --data . --method planrag", "no method 'planrag'"),
    ("mhqa --data . --dataset triviaqa", "no data set 'triviaqa'"),
    *((f"prompt-format --temperature={t}", "not temperatures") for t in ("hot", "", "0,3", "-1")),
    ("rat --data . --family poetry", "no task family 'poetry'"),
    ("rat --data . --family code,maths", "no task family 'code,maths'"),
    ("rat --data . --family code", "There is no corpus for code yet. Build it"),
    ("rat-corpus --data . --family poetry", "no task family 'poetry'"),
    ("rat-corpus --data . --family maths", "cannot be read"),
    ("rules --data . --level 3", "There is no level '3'"),
    ("shop --shop bakery", "no shop 'bakery'"),
    ("shop --method=", "no method ''"),
    ("text2sql --data . --mode fast", "no mode 'fast'"),
)
def test_an_unknown_choice_is_an_error(words: str, sentence: str, tmp_path: Path) -> None:
    bench(*words.split(), "--out", tmp_path / "out", fails=sentence)
    assert not (tmp_path / "out").exists()


@cases("agents", "dqa", "mhqa", "needles", "rat --family code")
def test_a_suite_without_data_of_its_own_asks_for_it(words: str) -> None:
    with pytest.raises(SystemExit, match="2"):  # as for any option that is missing
        bench(*words.split())


@pytest.mark.parametrize("name", SUITES)
def test_its_command_is_there(name: str) -> None:
    said = " ".join(bench(name.replace("_", "-"), "--help").output.split())
    assert "--model" in said
    assert "Can be resumed." in said or name in OWN_COMMAND


@pytest.mark.parametrize("name", SUITES)
def test_tables_without_records(name: str) -> None:
    made = suite(name)
    assert made.measures
    assert all(table.rows is not None for table in made.tables([]))
