"""Long-term memory: what an owner (a user or project) keeps between threads."""

from contextlib import suppress

from langgraph.store.base import BaseStore
from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict  # pydantic wants this one before Python 3.12

_MAX_TERMS = 1_000


class Term(TypedDict):
    """The expansion of an abbreviation, its source, and whether the owner confirmed it."""

    expansion: str
    document: str
    page: int
    confirmed: bool


_TERM = TypeAdapter(Term)


def _namespace(owner: str) -> tuple[str, ...]:
    # A store allows no dot. A plain substitute could turn the name into another owner's.
    return ("owners", owner.replace("%", "%25").replace(".", "%2E"), "abbreviations")


async def abbreviations_of(store: BaseStore, owner: str) -> dict[str, Term]:
    """Every abbreviation that was proposed to this owner."""
    space = _namespace(owner)
    items = await store.asearch(space, limit=_MAX_TERMS)
    terms: dict[str, Term] = {}
    for item in sorted(items, key=lambda item: item.key):
        if item.namespace == space:  # some stores match _ with any character
            with suppress(ValidationError):  # a caller of the server may have written anything
                terms[item.key] = _TERM.validate_python(item.value)
    return terms


async def confirmed_abbreviations(store: BaseStore, owner: str) -> dict[str, str]:
    """The expansions of the abbreviations that this owner has confirmed."""
    terms = await abbreviations_of(store, owner)
    return {short: term["expansion"] for short, term in terms.items() if term["confirmed"]}


async def propose(store: BaseStore, owner: str, abbreviation: str, term: Term) -> None:
    """Store a new abbreviation; one that is already known does not change."""
    if await store.aget(_namespace(owner), abbreviation) is None:
        await store.aput(_namespace(owner), abbreviation, dict(term))


async def confirm(store: BaseStore, owner: str, abbreviation: str) -> bool:
    """Confirm a proposed abbreviation; False if there is none of that name."""
    item = await store.aget(_namespace(owner), abbreviation)
    if item is None:
        return False
    await store.aput(_namespace(owner), abbreviation, item.value | {"confirmed": True})
    return True


async def forget(store: BaseStore, owner: str, abbreviation: str) -> bool:
    """Remove an abbreviation; False if there is none of that name."""
    known = await store.aget(_namespace(owner), abbreviation) is not None
    await store.adelete(_namespace(owner), abbreviation)
    return known
