"""Which sentences of a rule text a question needs."""

from cases import cases

from planweave.tools.rules import select_needed

RULES = """\
Today is 2024-03-01. The fee of a visit is hours * rate. A missing rate is 40.
A visit is late if it began after its hour. Each late visit costs 15 extra.
Visits with the state void do not count for the fee.
The burden of a ward is the sum of its fees divided by beds.
Void visits do not count, unless the question is about void visits.
"""
THINGS = ("visits", "wards")


@cases(
    ("What ward has the highest fees?", ["hours * rate", "missing rate", "state void"], "late"),
    ("Which ward had the most late visits?", ["after its hour"], "hours * rate"),
    ("Which ward is under the greatest burden?", ["divided by", "hours * rate"], "late"),
    ("Which ward has the most beds?", [], "fee"),
)
def test_unneeded_rules_are_left_out(question: str, speaks_of: list[str], not_of: str) -> None:
    found = " ".join(select_needed(RULES, question, THINGS).sentences)
    assert all(words in found for words in speaks_of)
    assert not_of not in found


def test_an_exception_is_cut_or_removes_its_rule() -> None:
    assert "Void visits do not count." in select_needed(RULES, "Most visits?", THINGS).sentences
    asked = select_needed(RULES, "Which ward had the most void visits?", THINGS).sentences
    assert not any("Void visits" in sentence for sentence in asked)


def test_the_date_is_kept_if_time_matters() -> None:
    assert select_needed(RULES, "Which ward had most visits this year?", THINGS).present
    assert not select_needed(RULES, "Which ward has the most beds?", THINGS).present


@cases(
    *("Cost decides.", "Only delivered orders count.", "Ignore orders below 10 euro."),
    *("Orders from Oslo count double.", "A customer needs at least two orders to be eligible."),
    *("Do not take anybody from Riga.", "Customers from Riga are not allowed."),
    *("Prefer orders that belong to the north.", "Only orders that have been paid count."),
    *("Only customers who must have a licence win.", "Orders are ignored if they came late."),
    "A customer is eligible if he has two orders.",
    "Customers without insurance are not allowed to buy.",
)
def test_what_defines_nothing_is_kept(rule: str) -> None:
    assert select_needed(rule, "Who gets the voucher?", ["orders"]).sentences == (rule,)


def test_verbs_do_not_hide_a_definition() -> None:
    rule = "A delivery that comes late costs days * 20."
    asked = "Whose lateness costs the most?"
    assert select_needed(rule, asked, ["delivery"]).sentences == (rule,)
