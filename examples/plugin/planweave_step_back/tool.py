"""A tool that methods with a selector can call: planweave ask … --setting tools=working_days."""

from datetime import date, timedelta

from langchain_core.tools import tool


@tool
def working_days(first: date, last: date) -> int:
    """Counts the days from first to last, both included, without Saturdays and Sundays."""
    return sum((first + timedelta(n)).weekday() < 5 for n in range((last - first).days + 1))
