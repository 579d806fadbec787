"""Text of models and databases as a terminal may show it."""

from tools.result_text import one_line


def plain(text: str) -> str:
    """``text`` with its lines, and every other control character written out as an escape.

    A terminal obeys some of them: a row of a database could clear the screen or hide a step of a
    plan that a person is asked to approve.
    """
    return "\n".join(one_line(line) for line in text.expandtabs(4).split("\n"))
