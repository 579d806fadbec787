"""Prompt files load, agree with the code that fills them, and read as they should."""

from pathlib import Path

import pytest
from scripted import Prompt, Replies, act, change, decide, plan, register

from graphs import method
from memory import Context
from prompts import PromptError, Template, load

FOLDER = Path(__file__).parents[2] / "prompts"
NAMES = sorted(path.relative_to(FOLDER).as_posix()[:-3] for path in FOLDER.rglob("*.md"))
SNAPSHOTS = Path(__file__).parent / "snapshots"


@pytest.mark.parametrize("name", NAMES)
def test_every_file_loads_and_fills(name: str) -> None:
    template = load(name)
    filled = template.fill(**dict.fromkeys(template.placeholders, "{{value}}"))
    assert filled
    assert filled.count("{{") == len(template.placeholders) or len(template.placeholders) == 0


@pytest.mark.parametrize("values", [{}, {"a": "1"}, {"a": "1", "b": "2", "c": "3"}])
def test_a_wrong_filling_is_refused(values: dict[str, str]) -> None:
    with pytest.raises(PromptError, match="disagree"):
        Template("t", "{{a}} and {{b}}").fill(**values)


def test_a_value_is_never_a_template() -> None:
    assert Template("t", "{{a}}{{b}}").fill(a="{{b}}", b="x") == "{{b}}x"


def test_an_unknown_prompt_is_said() -> None:
    with pytest.raises(PromptError, match=r"planrag/plan'.*planrag/planner"):
        load("planrag/plan")


@pytest.mark.parametrize("name", ["planrag", "iter_rag", "single_rag"])
async def test_the_whole_prompt_of_each_role(name: str, tmp_path: Path) -> None:
    """The last prompt of each role in one run; to accept a change, delete the snapshot."""
    database = tmp_path / "plants.sql"
    database.write_text(
        "CREATE TABLE plant(name VARCHAR(20) PRIMARY KEY, cost REAL);\n"
        "INSERT INTO plant VALUES ('Aachen', 10.5);\nINSERT INTO plant VALUES ('Bonn', 7.25);\n"
    )
    actions = [act("sql", "SELECT name, cost FROM plant"), act("sql", "SELECT x FROM plant")]
    script = Replies(
        plan=[plan("Read the costs.", "Take the least.")],
        action=[*actions, act("finish")][: 1 if name == "single_rag" else 3],
        judge=[change("Take the least."), change("Decide.")],
        decide=[decide("Berlin", 1), decide("Bonn", 1)],
    )
    context = Context(
        model=register(script),
        database=str(database),
        rules="Cheap is good.",
        candidates=("Aachen", "Bonn"),
    )
    await method(name).graph.ainvoke({"question": "Which plant?"}, context=context)
    last = {prompt.task: prompt for prompt in script.prompts}
    shown = "\n\n".join(_shown(prompt) for prompt in last.values()) + "\n"
    snapshot = SNAPSHOTS / f"{name}.txt"
    if not snapshot.exists():
        SNAPSHOTS.mkdir(exist_ok=True)
        snapshot.write_text(shown, encoding="utf-8")
        pytest.fail(f"wrote {snapshot.name}: read it and run again")
    assert shown == snapshot.read_text(encoding="utf-8")


def _shown(prompt: Prompt) -> str:
    parts = [f"--- {message.type} ---\n{message.text}" for message in prompt.messages]
    return "\n".join([f"===== {prompt.task} =====", *parts])
