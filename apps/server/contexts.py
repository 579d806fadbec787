"""The context of a run, from what a caller sent."""

from collections.abc import Mapping
from typing import Any

from planweave.apps.options import context_of
from planweave.apps.server.people import Person
from planweave.apps.service import service
from planweave.memory import Context


def admitted(person: Person, settings: Mapping[str, Any]) -> Context:
    """The context in which a run of this person may run.

    The one person of a server without keys may set everything, as under ``langgraph dev``. Where
    others call too, sources and models are those that the operator offers by name, a collection
    may also be the caller's own (``owner/name``), and memory is the caller's.

    Raises:
        BadInput: A setting is wrong, or not this person's to choose.
    """
    if not person.shared:
        return context_of(service().context.model_dump() | dict(settings))
    collection = settings.get("collection")
    if isinstance(collection, str) and collection.startswith(f"{person.owner}/"):
        rest = {name: value for name, value in settings.items() if name != "collection"}
        context = service().admit(rest, owner=person.owner)
        return context.model_copy(update={"collection": collection})
    return service().admit(settings, owner=person.owner)
