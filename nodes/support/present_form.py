"""The present, in words that spare a small model the date arithmetic."""

from datetime import date

from planweave.prompts import load
from planweave.tools.present import depends_on_present, find_spans, find_year_parts
from planweave.tools.rules import find_stated_present


def present_form(question: str, now: str, *texts: str) -> str:
    """The days that a question names, or today; empty if it names neither.

    Args:
        question: The question.
        now: The time of the question; by default that of the clock.
        texts: Rules and notes; a present that they state takes precedence.
    """
    found = [*find_year_parts(question)]
    if not found and not depends_on_present(question):
        return ""
    stated = find_stated_present("\n".join(texts))
    today = stated or (date.fromisoformat(now[:10]) if now else date.today())
    lines = []
    for phrase, first, last in (*found, *find_spans(question, today)):
        name, days = ("day", {}) if first == last else ("span", {"last": f"{last}"})
        lines.append(load(f"query_writer/{name}").fill(said=phrase, first=f"{first}", **days))
    # Without today beside a span: small models would ask for that day alone.
    return " ".join(lines) or load("query_writer/now").fill(today=f"{today}")
