"""A citation opens the page that its words stand on: in the terminal, as JSON, in the studio."""

import gzip
import json
import re
from pathlib import Path

import pytest
from command_line import CommandLine
from documents import write_pdf
from offers import scripted
from openai_server import serving
from scripted import tell
from starlette.applications import Starlette
from starlette.testclient import TestClient

from planweave.apps import studio

SEARCH = {"thought": "Look it up.", "tool": "documents", "input": "hydrogen"}
QUOTES = {
    ("plant.pdf", 2): "The hydrogen plant of Kiel costs 40 million.",
    ("review.jsonl.gz", 82): "Green hydrogen falls to USD 2-9/kg\nby 2030.",
    ("notes.md", 2): "Hydrogen leaks through seals that hold methane.",
}
FINDINGS = [
    {"page": 1, "quote": " ".join(quote.split()), "statement": f"It says {place}.", "values": []}
    for place, quote in zip(("one", "two", "three"), QUOTES.values(), strict=True)
]
ANSWER = tell("Hydrogen leaks [3]. It says so [1][2].")
SOURCE = re.compile(r'\[(\d)\] (\S+), p\. (\d+): "([^"]+)"')


@pytest.fixture
def library(planweave: CommandLine, tmp_path: Path) -> CommandLine:
    """The program with documents whose pages are those of the file, the record's, and sections."""
    write_pdf(tmp_path / "plant.pdf", ["Contents", QUOTES["plant.pdf", 2], "The end"])
    pages = [{"page": 7, "text": "Wind."}, {"page": 82, "text": QUOTES["review.jsonl.gz", 82]}]
    lines = "\n".join(map(json.dumps, pages))
    (tmp_path / "review.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    (tmp_path / "notes.md").write_text(f"# Wind\nCalm.\n# Gas\n{QUOTES['notes.md', 2]}\n")
    files = sorted({document for document, _ in QUOTES})
    added = planweave("docs", "add", *files, "--embeddings", "none")
    assert added.returncode == 0, added.stderr
    return planweave


def test_citations_open_their_page(
    library: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(*scripted(SEARCH, {"findings": FINDINGS}, ANSWER)) as model:
        run = library(
            *("ask", "What of hydrogen?", "--method", "agent_v1", "--model", model.name),
            *("--setting", "whole_collection=off"),
        )
    assert run.returncode == 0, run.stderr
    answer = " ".join(run.stdout[run.stdout.index("─ Answer ─") :].split())
    cited = {int(number): place for number, *place in SOURCE.findall(answer)}
    assert sorted(cited) == [1, 2, 3]
    wanted = zip(cited.values(), QUOTES.items(), strict=True)
    monkeypatch.setenv("PLANWEAVE_DATA_DIR", str(tmp_path / "data"))
    page = TestClient(Starlette(routes=studio.routes()), base_url="http://127.0.0.1")
    for (document, number, words), (place, quote) in wanted:
        assert (document, int(number)) == place
        assert quote.rstrip(".").split() == words.rstrip(".").split()
        opened = library("docs", "page", document, number)
        asked = {"collection": "default", "name": document, "page": number}
        shown = page.get("/studio/api/documents/page", params=asked).json()["text"]
        assert words in " ".join(opened.stdout.split())
        assert words in " ".join(shown.split())
