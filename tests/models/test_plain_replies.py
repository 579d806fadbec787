"""Programs and plain texts in replies: what is one, and what is said where none is."""

from cases import cases
from langchain_core.messages import HumanMessage
from scripted import Replies, register

from planweave.models import Program, StructuredFailure, Text, ask, chat_model


@cases(
    ("```python\nprint(4)\n```", "print(4)"),
    ("Here it is:\n\n```py\nx = 1\nprint(x)\n```\nIt prints 1.", "x = 1\nprint(x)"),
    ("```\nprint(4)\n```", "print(4)"),
    ("```python\nprint(4)", "print(4)"),
    ("print(4)", "print(4)"),
    ("80", "80"),
    (
        "```python\ndef f():\n    return 1\n```\nUse it:\n```python\nf()\n```",
        "def f():\n    return 1",
    ),
    ("```\nTask: none\n```\n```python\nprint(1)\n```", "print(1)"),
    ("```python\nprint(len('```'))\n```", "print(len('```'))"),
)
def test_the_longest_block_that_is_a_program(text: str, code: str) -> None:
    assert Program.read(text) == Program(code=code)


@cases(
    ("", "empty", "was empty"),
    ("Calculate the total and print it.", "no_program", "it has no block of code"),
    ("Four", "no_program", "it has no block of code"),
    ("Answer: four", "no_program", "it has no block of code"),
    ("```python\nprint(4)}\n```", "no_program", "unmatched '}' in line 1 of the block"),
    ("```python\n# nothing yet\n```", "no_program", "the block does nothing"),
    ("```python\nx = '\0'\n```", "no_program", "the block"),
    ("```python\n" + "-" * 15_000 + "1\n```", "no_program", "the block"),
    ("```python\n" + "x = 1\n" * 5_000 + "```", "no_program", "it is too long"),
)
def test_what_is_no_program_is_said(text: str, kind: str, why: str) -> None:
    failure = Program.read(text)
    assert isinstance(failure, StructuredFailure)
    assert failure.kind == kind
    assert why in failure.message


def test_of_a_reply_that_was_cut_off_a_whole_block_is_read() -> None:
    whole = Program.read("```python\nprint(1)\n```\n```python\nprint(4)", cut=True)
    assert whole == Program(code="print(1)")


@cases(
    (' He wrote "Hamlet".\n\nHe died. ', False, 'He wrote "Hamlet".\n\nHe died.'),
    ("```text\nOnce.\n```", False, "Once."),
    ("A list without a full stop", False, "A list without a full stop"),
    ('He wrote "Hamlet." Then he', True, 'He wrote "Hamlet."'),
    ("It cost 3.5 dollars. It was 3.5", True, "It cost 3.5 dollars."),
)
def test_a_text_is_read_as_it_is_as_far_as_it_is_whole(reply: str, cut: bool, text: str) -> None:
    assert Text.read(reply, cut=cut) == Text(text=text)


@cases(
    (Text, "  ", False, "empty"),
    (Text, "Once upon a", True, "cut_off"),
    (Program, "```python\nprint(4)", True, "cut_off"),
    (Program, "print(4)", True, "cut_off"),
)
def test_what_is_not_whole_is_none(
    form: type[Program | Text], reply: str, cut: bool, kind: str
) -> None:
    failure = form.read(reply, cut=cut)
    assert isinstance(failure, StructuredFailure)
    assert failure.kind == kind


UNCLOSED, CLOSED = "```python\nprint(2\n```", "```python\nprint(2)\n```"


@cases(
    (Program(code="print(2)"), UNCLOSED, CLOSED, "```python", "'(' was never closed in line 1"),
    (Text(text="Once."), "", "Once.", "Reply with the text and nothing else", "was empty."),
)
async def test_it_is_not_asked_for_as_json_and_told_what_was_wrong_with_it(
    wanted: Program | Text, bad: str, good: str, asked: str, wrong: str
) -> None:
    script = Replies(text=[bad, good])
    task = HumanMessage("# Your task now: the text\nTell a tale.")
    reply = await ask(chat_model(register(script)), [task], type(wanted))
    assert reply.value == wanted
    first, second = (prompt.messages[-1].text for prompt in script.prompts)
    assert asked in first
    assert "JSON" not in first
    assert wrong in second
    assert [call.error != "" for call in reply.calls] == [True, False]
