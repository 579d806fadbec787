"""Aids that correct, replace or drop what a small model wrote."""

import re
from collections.abc import Collection, Sequence
from itertools import chain
from string import punctuation

from planweave.memory import Answer, Context, Fact, Page, WorkingMemory
from planweave.nodes.shared.citation_check import CITATION, find_support, sentences
from planweave.prompts import load
from planweave.tools.checking import check_decision, facts_text, has_result
from planweave.tools.checking.words import roots
from planweave.tools.documents.collection import open_collection
from planweave.tools.documents.quotes import (
    has_content_of,
    has_sentences_of,
    is_new,
    is_worded_like,
    locate,
)

_ANSWERING = "answering_machine"
_QUESTION_WORDS = roots(
    "many much were does have been what which when where whose that this from with"
)
_MIN_SHARE = 0.75
"""Least share of a question's longer words in a fact that answers it."""
_EMPTY_ANSWERS = ("", "null", "none", "nothing", "n/a", "unknown", "not known", "not given")
_FILE_NAME = re.compile(
    r".*\w\.(pdf|docx?|txt|md|rst|html?|csv|tsv|jsonl?|xlsx?|pptx?)(\.(gz|xz))?",
    re.IGNORECASE | re.DOTALL,
)


def clean_search(query: str, asked: str, context: Context) -> str:
    """Remove file names from a search, and replace a single word of the task by the whole task.

    Small models write the name of a file, or ``PV``, instead of what to look for.
    """
    if not context.assists("selector"):
        return query
    words = query
    if "." in query and context.collection:
        for document in open_collection(context.collection).documents():
            if _FILE_NAME.fullmatch(document.name):
                words = words.replace(document.name, " ")
    if words != query:
        words = " ".join(words.split())
    is_single_word = len(words.split()) < 2 and words.strip().casefold() in asked.casefold()
    return asked if is_single_word else words


def quote_if_unstated(statement: str, quote: str, page: str, context: Context) -> str:
    """Replace a statement that its quote does not contain by the quote.

    Without aids the statement stays if the page has its numbers and half of its longer words.
    """
    return quote if context.assists("reader") or not has_content_of(page, statement) else statement


def quote_if_nearer(statement: str, quote: str, asked: frozenset[str], context: Context) -> str:
    """Replace a finding's statement by its quote if that has more words of the question.

    Small models quote the sentence that answers and state another.
    """
    if not context.assists("reader"):
        return statement
    return quote if len(asked & roots(quote)) > len(asked & roots(statement)) else statement


def reject_repetition(question: str, state: WorkingMemory, context: Context) -> str:
    """Keep the question as it was asked if its interpretation only repeats an earlier question.

    Small models copy an earlier question instead of writing the new one in full.
    """
    before = {exchange["question"].casefold() for exchange in state["history"]}
    repeats = context.assists("interpreter") and question.casefold() in before
    return state["question"] if repeats else question


def is_own_step(text: str, page: Page, prompts: Sequence[str], context: Context) -> bool:
    """Whether a revised step is the model's own and does not just repeat the prompt."""
    if not context.assists("reviser"):
        return True
    texts = [*(load(name).text for name in prompts), f"{page['document']}, p. {page['page']}"]
    instructions = "\n\n".join(texts)
    return not (locate(text, instructions) or has_sentences_of(instructions, text))


def clean_short_answer(short: str | None, state: WorkingMemory, context: Context) -> str | None:
    """Drop a short answer that is empty or only repeats the question."""
    text = (short or "").strip()
    if not context.assists(_ANSWERING):
        return None if _strip(text) in ("", "null") else text
    question, fact_text = state["question"], facts_text(state["facts"])
    asks_again = is_worded_like(question, text) and not is_new(text, fact_text, question)
    return None if asks_again else drop_if_empty(text) or None


def add_citations(
    answer: Answer, named: Collection[int], state: WorkingMemory, context: Context
) -> Answer:
    """Add citations to an answer whose text has none.

    Without aids, only the list of facts is filled, with those that the model ``named``. With aids,
    the text cites them. If the model named none, the facts that support a sentence are cited. An
    answer without supporting facts is dropped. If the model wrote nothing, the facts are the text.
    """
    if not context.assists(_ANSWERING):
        known = [fact["number"] for fact in state["facts"] if fact["number"] in named]
        return answer | {"facts": known}
    facts = _find_supporting_facts(answer, named, state)
    why, unknown = answer["why"], answer["unknown"]
    if not (facts or unknown) and (facts := _find_stating_fact(answer["decision"], state)):
        why = facts[0]["text"]  # the model's reasons for a right answer are empty words
    if not facts:
        unknown = unknown or "The facts that were found do not tell it."
        return Answer(decision=None, why="", facts=[], unknown=unknown)
    numbers = [fact["number"] for fact in facts]
    if why:
        why = f"{why.rstrip('.')} {''.join(f'[{number}]' for number in numbers)}."
    elif not (answer["decision"] or unknown):
        why = " ".join(f"{fact['text'].rstrip('.')} [{fact['number']}]." for fact in facts)
        unknown = "The model wrote no answer; these facts were found."
    return answer | {"why": why, "facts": numbers, "unknown": unknown}


def drop_if_empty(text: str) -> str:
    """Drop a text without content, such as "null", a comma or a bare "… [1]"."""
    return "" if _strip(text) in _EMPTY_ANSWERS else text.strip()


def _strip(text: str) -> str:
    return CITATION.sub("", text).strip(f"{punctuation} …").lower()


def _find_stating_fact(decision: str | None, state: WorkingMemory) -> list[Fact]:
    """The first fact about the question that states the decision, by the rules of the check."""
    question = state["question"]
    asked = {word for word in roots(question) - _QUESTION_WORDS if len(word) > 3}
    for fact in state["facts"] if decision else ():
        is_about = len(asked & roots(facts_text([fact]))) >= _MIN_SHARE * len(asked)
        if (
            is_about
            and check_decision(decision or "", [fact], question=question).kind == "supported"
        ):
            return [fact]
    return []


def _find_supporting_facts(
    answer: Answer, named: Collection[int], state: WorkingMemory
) -> list[Fact]:
    """The facts that the model ``named``, or else those that support a sentence of the answer.

    The smallest models name none. The sentences count only if nothing is reported as unknown and
    the text is about the question or has the result of a calculation.
    """
    numbers, why = {*named}, answer["why"]
    is_about_question = is_worded_like(state["question"], why) or has_result(why, state["facts"])
    if is_about_question and not (numbers or answer["unknown"]):
        numbers = {*chain.from_iterable(find_support(text, state) for text in sentences(why))}
    return [fact for fact in state["facts"] if fact["number"] in numbers]
