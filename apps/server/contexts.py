"""The context of a run, from what a caller sent."""

from collections.abc import Mapping
from typing import Any

from planweave.apps.options import context_of
from planweave.apps.server.people import Person
from planweave.apps.service import service
from planweave.memory import Context
from planweave.tools.files.kept import path_of


def admitted(person: Person, settings: Mapping[str, Any]) -> Context:
    """The context in which a run of this person may run.

    The one person of a server without keys may set everything, as under ``langgraph dev``. Where
    others call too, sources and models are those that the operator offers by name, a collection
    or database may also be the caller's own (``owner/name``), and memory is the caller's.
    """
    if not person.shared:
        return context_of(service().context.model_dump() | dict(settings))
    own = {
        name: str(settings[name])
        for name in ("collection", "database")
        if str(settings.get(name, "")).startswith(f"{person.owner}/")
    }
    rest = {name: value for name, value in settings.items() if name not in own}
    context = service().admit(rest, owner=person.owner)
    if "database" in own:
        name = own["database"].partition("/")[2]
        own["database"] = str(path_of(name, person.owner))
    return context.model_copy(update=own)
