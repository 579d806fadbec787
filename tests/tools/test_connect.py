import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cases import cases

from planweave import PlanweaveError
from planweave.tools import open_database

SECRET = "h0nter2"


@cases(
    *("${THE_URL}", "postgresql://user:${THE_PASSWORD}@127.0.0.1:9/db"),
    *("bolt://user:${THE_PASSWORD}@127.0.0.1:9", "neo4j://user:${THE_PASSWORD}@127.0.0.1:9/graph"),
    *("bolt://user:${THE_PASSWORD}@", "bolt://user:${THE_PASSWORD}@127.0.0.1:notaport/graph"),
    *("${THE_PASSWORD}", "${THE_PASSWORD}.cql", f"postgresql:/user:{SECRET}@127.0.0.1/db"),
    *(f"postgresql://127.0.0.1:9/db?password={SECRET}", f"bolt://user:a#{SECRET}@127.0.0.1:9"),
    *(f"bolt://user:a/{SECRET}@127.0.0.1:9", f"bolt://user:{SECRET}@[127.0.0.1:9"),
    f"postgresql://user:{SECRET}@[127.0.0.1:9/db",
)
def test_errors_show_no_secret_of_a_url(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THE_PASSWORD", SECRET)
    monkeypatch.setenv("THE_URL", f"postgresql:/user:{SECRET}@host/db")
    with pytest.raises(PlanweaveError) as caught:
        open_database(url)
    shown = f"{caught.value} {caught.value!r} {caught.value.__cause__!r}"
    assert SECRET not in shown
    assert "\n" not in str(caught.value)


def test_variables_are_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plants.sql").write_text("CREATE TABLE plant(name);")
    monkeypatch.setenv("FOLDER", str(tmp_path))
    database = open_database("${FOLDER}/plants.sql")
    assert [entity.name for entity in database.schema().entities] == ["plant"]


def test_only_the_last_databases_stay_open(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.sql" for number in range(9)]
    for path in paths:
        path.write_text("CREATE TABLE plant(name);")
    first, *_, last = [open_database(str(path)) for path in paths]
    assert open_database(str(paths[-1])) is last
    assert open_database(str(paths[0])) is not first


@cases("SOME_API_KEY", "some_access_key")
def test_no_key_is_sent_to_a_database(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, SECRET)
    with pytest.raises(PlanweaveError, match=f"names {name}"):
        open_database(f"postgresql://me:${{{name}}}@127.0.0.1:9/db")


def test_a_silent_server_does_not_delay_other_databases(tmp_path: Path) -> None:
    plants = tmp_path / "plants.sql"
    plants.write_text("CREATE TABLE plant(name);")
    with socket.create_server(("127.0.0.1", 0)) as silent, ThreadPoolExecutor() as threads:
        port = silent.getsockname()[1]
        waiting = threads.submit(open_database, f"postgresql://me:x@127.0.0.1:{port}/db")
        connection, _ = silent.accept()
        assert open_database(str(plants)).kind == "relational"
        assert not waiting.done()
        connection.close()
        with pytest.raises(PlanweaveError, match="does not answer"):
            waiting.result()
