"""A caller from outside chooses by name among what is offered, and opens nothing else."""

from pathlib import Path
from typing import Any

import pytest
from cases import cases

from planweave import BadInput
from planweave.apps import service as service_module
from planweave.apps.service import Service, service
from planweave.memory import Context

OFFER = Service(
    context=Context(model="house", max_iterations=8, max_tokens=1_000, rules="Be brief."),
    methods=("planrag", "agent_v3"),
    models=("openai:gpt-4o",),
    databases={"sales": "postgresql://reader:${PASSWORD}@db/sales"},
    graphs={"roads": "bolt://graph"},
    collections=("energy",),
)
OPENING = {
    *("database", "graph", "collection", "model", "models", "owner", "ensemble_of"),
    *("experience", "paths", "agents", "environment_data"),
}


@pytest.mark.parametrize("name", sorted(Context.model_fields))
def test_a_text_of_the_callers_opens_nothing(name: str) -> None:
    given: Any = {"planner": "/etc/passwd"} if name == "models" else "/etc/passwd"
    try:
        context = OFFER.admit({name: given})
    except BadInput:
        return
    assert name not in OPENING
    assert context.model_dump(exclude={name}) == OFFER.context.model_dump(exclude={name})


def test_sources_are_chosen_by_name() -> None:
    chosen = OFFER.admit({"database": "sales", "graph": "roads", "collection": "energy"})
    assert chosen.database == "postgresql://reader:${PASSWORD}@db/sales"
    assert (chosen.graph, chosen.collection) == ("bolt://graph", "energy")
    assert OFFER.admit({"models": {"planner": "openai:gpt-4o"}}).models["planner"]
    assert OFFER.admit({"ensemble_of": "planrag"}).ensemble_of == "planrag"


def test_experience_is_what_ships_or_the_callers_own() -> None:
    assert OFFER.admit({"experience": "shipped"}).experience == "shipped"
    own = OFFER.admit({"experience": "own"}, owner="ann")
    assert (own.experience, own.owner) == ("own", "ann")
    with pytest.raises(BadInput, match="It offers: shipped"):
        OFFER.admit({"experience": "own"})  # nobody in particular has none


def test_what_only_shapes_the_answer_and_a_lower_limit_are_free() -> None:
    chosen = OFFER.admit({"rules": "Cheap is good.", "candidates": ["a", "b"], "approve": True})
    assert (chosen.rules, chosen.candidates) == ("Cheap is good.", ("a", "b"))
    assert chosen.model == "house"
    chosen = OFFER.admit({"max_iterations": 3, "max_tokens": 10}, owner="ann")
    assert (chosen.max_iterations, chosen.max_tokens, chosen.owner) == (3, 10, "ann")


@cases(
    ({"max_iterations": 9}, "at most 8"),
    ({"max_tokens": None}, "at most 1000"),
    ({"max_iterations": 0}, "max_iterations"),
    ({"rules": "x" * 100_001}, "at most 100000 characters"),
    ({"models": "openai:gpt-4o"}, "models"),
    ({"ensemble_of": "rat"}, "planrag, agent_v3"),
    ({"no_such": 1}, "A caller may not choose"),
)
def test_what_is_not_offered_is_refused(settings: dict[str, object], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        OFFER.admit(settings)


def test_who_may_set_everything_may_also_use_names() -> None:
    assert OFFER.trusted({"database": "sales"}).database == OFFER.databases["sales"]
    chosen = OFFER.trusted({"database": "own.db", "graph": "roads", "max_iterations": 20})
    assert (chosen.database, chosen.graph, chosen.max_iterations) == ("own.db", "bolt://graph", 20)
    assert OFFER.trusted({"database": None}).database is None


def test_the_file_of_the_operator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "service.json"
    path.write_text('{"context": {"database": "x.sql"}, "collections": ["energy"]}')
    monkeypatch.setenv("PLANWEAVE_SERVICE", str(path))
    assert service.__wrapped__().context.database == "x.sql"
    for text, words in (
        ("{", ""),
        ('{"methods": ["none"]}', "methods: there is no method 'none'"),
        ('{"context": {"colour": 1}}', "context: there is no field 'colour'"),
    ):
        path.write_text(text)
        with pytest.raises(BadInput, match=rf"service\.json is not as it should be \(.*{words}"):
            service.__wrapped__()
    path.unlink()
    with pytest.raises(BadInput, match="cannot be read"):
        service.__wrapped__()
    monkeypatch.setenv("PLANWEAVE_SERVICE", "")
    assert service_module.service.__wrapped__() == Service()
