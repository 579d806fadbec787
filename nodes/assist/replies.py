"""Aids in what becomes of a model's words: changed, replaced or left out where small ones slip."""

import re
from collections.abc import Collection, Sequence
from itertools import chain
from string import punctuation

from planweave.memory import Answer, Context, Fact, Page, WorkingMemory
from planweave.nodes.shared.citation_check import CITATION, sentences, supporting
from planweave.prompts import load
from planweave.tools.checking import follow, said_by, says_result
from planweave.tools.checking.words import roots
from planweave.tools.documents.collection import open_collection
from planweave.tools.documents.quotes import adds, alike, locate, says, states

_ANSWERING = "answering_machine"
_ASKING = roots("many much were does have been what which when where whose that this from with")
_SPOKEN = 0.75
"""Of the longer words of a question, in a fact that answers it."""
_NOTHING = ("", "null", "none", "nothing", "n/a", "unknown", "not known", "not given")
_FILE_NAME = re.compile(
    r".*\w\.(pdf|docx?|txt|md|rst|html?|csv|tsv|jsonl?|xlsx?|pptx?)(\.(gz|xz))?",
    re.IGNORECASE | re.DOTALL,
)


def search_words(query: str, asked: str, context: Context) -> str:
    """A search without names of files; a single word of the task gives way to the whole of it.

    Small models write the name of a file, or ``PV``, where they should say what to look for.
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
    says_less = len(words.split()) < 2 and words.strip().casefold() in asked.casefold()
    return asked if says_less else words


def stated(statement: str, quote: str, page: str, context: Context) -> str:
    """What a finding states whose quote does not say it: the quote in its place.

    Without aids the reader's own words stay if the page says them: their numbers, and half of
    their longer words.
    """
    return quote if context.assists("reader") or not says(page, statement) else statement


def nearer(statement: str, quote: str, asked: frozenset[str], context: Context) -> str:
    """A finding's statement, or its quote if that says more of what is asked.

    Small models quote the sentence that answers, and state another.
    """
    if not context.assists("reader"):
        return statement
    return quote if len(asked & roots(quote)) > len(asked & roots(statement)) else statement


def new_question(question: str, state: WorkingMemory, context: Context) -> str:
    """The interpreted question; one that only repeats an earlier one gives way to what was asked.

    Small models copy an earlier question where they should say the new one in full.
    """
    before = {exchange["question"].casefold() for exchange in state["history"]}
    repeats = context.assists("interpreter") and question.casefold() in before
    return state["question"] if repeats else question


def own_step(text: str, page: Page, prompts: Sequence[str], context: Context) -> bool:
    """Whether a revised step is the model's own, and does not only repeat the prompt."""
    if not context.assists("reviser"):
        return True
    said = [*(load(name).text for name in prompts), f"{page['document']}, p. {page['page']}"]
    instructions = "\n\n".join(said)
    return not (locate(text, instructions) or states(instructions, text))


def own_answer(short: str | None, state: WorkingMemory, context: Context) -> str | None:
    """A short answer; one that says nothing, or only what was asked, is none."""
    text = (short or "").strip()
    if not context.assists(_ANSWERING):
        return None if _bare(text) in ("", "null") else text
    question, said = state["question"], said_by(state["facts"])
    asks_again = alike(question, text) and not adds(text, said, question)
    return None if asks_again else unless_nothing(text) or None


def cites_support(
    answer: Answer, told_by: Collection[int], state: WorkingMemory, context: Context
) -> Answer:
    """An answer whose text cites nothing, with the facts that tell it.

    Without aids these are the ones that the model names. With aids they are cited in the text, an
    empty list is filled with the facts that support a sentence, an answer that no fact tells is
    none, and where the model wrote nothing at all the facts speak for themselves.
    """
    if not context.assists(_ANSWERING):
        named = [fact["number"] for fact in state["facts"] if fact["number"] in told_by]
        return answer | {"facts": named}
    facts = _supporting(answer, told_by, state)
    why, unknown = answer["why"], answer["unknown"]
    if not (facts or unknown) and (facts := _holding(answer["decision"], state)):
        why = facts[0]["text"]  # what the model wrote beside a right answer says nothing
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


def unless_nothing(text: str) -> str:
    """The text, or nothing where it says nothing, as "null", a comma and a bare "… [1]" do."""
    return "" if _bare(text) in _NOTHING else text.strip()


def _bare(text: str) -> str:
    return CITATION.sub("", text).strip(f"{punctuation} …").lower()


def _holding(decision: str | None, state: WorkingMemory) -> list[Fact]:
    """The first fact that speaks of the question and holds the decision, by the check's rules."""
    question = state["question"]
    asked = {word for word in roots(question) - _ASKING if len(word) > 3}
    for fact in state["facts"] if decision else ():
        is_about = len(asked & roots(said_by([fact]))) >= _SPOKEN * len(asked)
        if is_about and follow(decision or "", [fact], question=question).kind == "supported":
            return [fact]
    return []


def _supporting(answer: Answer, told_by: Collection[int], state: WorkingMemory) -> list[Fact]:
    """The facts that the model names; the smallest models name none whatever they answer.

    Where nothing is said to be unknown, and the text speaks of what was asked or says what was
    worked out, those are taken that support a sentence of it.
    """
    numbers, why = {*told_by}, answer["why"]
    speaks = alike(state["question"], why) or says_result(why, state["facts"])
    if speaks and not (numbers or answer["unknown"]):
        numbers = {*chain.from_iterable(supporting(text, state) for text in sentences(why))}
    return [fact for fact in state["facts"] if fact["number"] in numbers]
