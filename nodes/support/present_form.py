"""What a question must know of the present, in words that a small model need not reckon with."""

from datetime import date

from planweave.prompts import load
from planweave.tools.present import parts_of_years, spans, speaks_of_the_present
from planweave.tools.rules import stated_present


def present_form(question: str, now: str, *texts: str) -> str:
    """The days that a question speaks of, or today; empty if it speaks of neither.

    Args:
        question: What is asked.
        now: The moment of the question; the clock's if empty.
        texts: Rules and notes; a present that they state goes before both.
    """
    found = [*parts_of_years(question)]
    if not found and not speaks_of_the_present(question):
        return ""
    stated = stated_present("\n".join(texts))
    today = stated or (date.fromisoformat(now[:10]) if now else date.today())
    lines = []
    for said, first, last in (*found, *spans(question, today)):
        name, days = ("day", {}) if first == last else ("span", {"last": f"{last}"})
        lines.append(load(f"query_writer/{name}").fill(said=said, first=f"{first}", **days))
    # Beside a span the day itself distracts: small models ask for that day alone.
    return " ".join(lines) or load("query_writer/now").fill(today=f"{today}")
