"""Embeddings: by name, with instructions, in this process, and what goes wrong told."""

import json
from collections.abc import Iterator
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from cases import cases
from http_server import Handler, listening
from langchain_core.embeddings import Embeddings
from tiny_onnx import write_model

from planweave import BadInput
from planweave.models import (
    ModelSettings,
    ModelUnavailable,
    embedding_id,
    embeddings,
    process_settings,
    register_embeddings,
    tokenizer,
)
from planweave.models.embeddings import Instructions, MiniLM, instructions, unit
from planweave.models.weights import EMBEDDINGS, find


@pytest.fixture
def minilm(model_settings: ModelSettings) -> ModelSettings:
    """Settings with the user's own weights directory; skips where the model is not in it."""
    pytest.importorskip("onnxruntime", reason="the extra `documents` is not installed")
    try:
        path = find(EMBEDDINGS["minilm"][0])
        find(EMBEDDINGS["minilm"][1])
    except ModelUnavailable as error:
        pytest.skip(str(error))
    return model_settings.model_copy(update={"weights_dir": path.parents[1]})


class Recorded(Embeddings):
    """Remembers what it was asked; a text's vector is its length and 0."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.asked += texts
        return [[float(len(text)), 0.0] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


@pytest.fixture
def server() -> Iterator[tuple[str, list[list[str]]]]:
    """A model of an OpenAI-compatible server, which refuses "locked", and what it was asked."""
    inputs: list[list[str]] = []

    class Answering(Handler):
        def answer(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))["input"]
            inputs.append(asked)
            data = [
                {"object": "embedding", "index": n, "embedding": [3, 4]}
                for n, _ in enumerate(asked)
            ]
            body = json.dumps({"object": "list", "data": data, "model": "m", "usage": {}})
            self.reply(body.encode(), 401 if "locked" in asked else 200, "application/json")

    with listening(Answering) as url:
        yield f"{url}/v1#m", inputs


def test_every_text_gets_the_mean_of_its_own_tokens_in_its_own_place(tmp_path: Path) -> None:
    texts = ["a", "hydrogen costs money", "b b b b b b a a"] * 9
    write_model(tmp_path)
    model = MiniLM(tmp_path / "model.onnx", tmp_path / "tokenizer.json", max_tokens=6, threads=2)
    expected = [[8.0, 1.0], [2.0, 1.0], [9.0, 1.0]] * 9  # the last text is cut at six tokens
    assert model.embed_documents(texts) == expected


def test_unit_length_and_nought() -> None:
    assert unit([[3, 4], [0, 0]]) == [pytest.approx([0.6, 0.8]), [0, 0]]


def test_published_similarities(minilm: ModelSettings) -> None:
    """The example on the model's card, which 8 bits may change a little."""
    texts = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
    vectors = np.array(embeddings(settings=minilm).embed_documents(texts))
    assert vectors.shape == (3, 384)
    close = vectors @ vectors.T
    assert [close[0, 1], close[0, 2], close[1, 2]] == pytest.approx(
        [0.6660, 0.1046, 0.1411], abs=0.04
    )


def test_company_and_the_rest_of_a_long_text_change_nothing(minilm: ModelSettings) -> None:
    model = embeddings(settings=minilm)
    long = "hydrogen and water " * 90  # 270 tokens, of which 254 and two signs are read
    texts = ["short", long, long + "bananas", "a somewhat longer text about the cost of power"]
    together = np.array(model.embed_documents(texts))
    alone = np.array([model.embed_query(text) for text in texts])
    assert together == pytest.approx(alone, abs=1e-5)
    assert together[1].tolist() == together[2].tolist()
    assert np.array(model.embed_documents(texts)).tolist() == together.tolist()


async def test_asked_asynchronously(minilm: ModelSettings) -> None:
    model = embeddings("minilm", settings=minilm)
    assert await model.aembed_query("water") == model.embed_query("water")
    assert await model.aembed_documents(["water"]) == model.embed_documents(["water"])
    assert await model.aembed_documents([]) == []


def test_odd_texts_have_vectors(minilm: ModelSettings) -> None:
    found = embeddings(settings=minilm).embed_documents(["", "\ud800", "\x00", "氢能成本"])
    assert np.isfinite(found).all()


def test_tokens_lie_where_they_stand(minilm: ModelSettings) -> None:
    text = "Naïve \ud83d readers pay 1.5 % of H₂, 水"
    spans = tokenizer(settings=minilm).spans(text)
    assert all(begin < end for begin, end in spans)
    assert all(one[1] <= following[0] for one, following in pairwise(spans))
    assert "".join(text[begin:end] for begin, end in spans).startswith("Naïve")
    assert {"Naïve", "%", "水"} <= {text[begin:end] for begin, end in spans}
    assert tokenizer(settings=minilm).spans("") == []


def test_absent_weights_are_told(model_settings: ModelSettings) -> None:
    with pytest.raises(ModelUnavailable, match=r"minilm are not on this machine.*pull minilm"):
        embeddings(settings=model_settings)
    with pytest.raises(ModelUnavailable, match="pull minilm"):
        tokenizer(settings=model_settings)


def test_a_registered_model_is_asked_at_unit_length() -> None:
    model = Recorded()
    register_embeddings("recorded", lambda name: model if name == "x" else Recorded())
    made = embeddings("recorded:x")
    assert made.embed_query("abc") == [1.0, 0.0]
    assert made.embed_documents([]) == []
    assert embeddings("recorded:x") is made
    assert model.asked == ["abc"]


def test_instructions_go_before_question_and_document(model_settings: ModelSettings) -> None:
    model = Recorded()
    register_embeddings("recorded", lambda _: model)
    made = embeddings("recorded:intfloat/e5-base-v2")
    made.embed_query("q")
    made.embed_documents(["d"])
    own = {"query_instruction": "Ask: ", "document_instruction": ""}
    settings = model_settings.model_copy(update=own)
    made = embeddings("recorded:intfloat/e5-base-v2", settings=settings)
    made.embed_query("q")
    made.embed_documents(["d"])
    assert model.asked == ["query: q", "passage: d", "Ask: q", "d"]


@cases(
    ("ollama:nomic-embed-text", "search_query: ", "search_document: "),
    ("huggingface:intfloat/multilingual-e5-small", "query: ", "passage: "),
    ("huggingface:intfloat/multilingual-e5-large-instruct", "Instruct: Given a web", ""),
    ("huggingface:BAAI/bge-small-en-v1.5", "Represent this sentence", ""),
    ("huggingface:BAAI/bge-m3", "", ""),
    ("minilm", "", ""),
    ("openai:text-embedding-3-small", "", ""),
)
def test_instructions_that_are_known(name: str, query: str, document: str) -> None:
    found = instructions(name)
    assert found.query.startswith(query)
    assert bool(found.query) == bool(query)
    assert found == Instructions(found.query, document)


def test_an_id_changes_with_model_weights_and_instruction(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("minilm", "ollama:nomic-embed-text", "openai:text-embedding-3-small")
    before = [embedding_id(name) for name in names]
    assert len(set(before)) == len(names)
    assert EMBEDDINGS["minilm"][0].sha256[:8] in before[0]
    settings = process_settings().model_copy(update={"document_instruction": "Text: "})
    module = import_module("planweave.models.embeddings")
    monkeypatch.setattr(module, "process_settings", lambda: settings)
    assert not set(before) & {embedding_id(name) for name in names}


async def test_a_server_is_asked(
    model_settings: ModelSettings, server: tuple[str, list[list[str]]]
) -> None:
    name, inputs = server
    made = embeddings(name, settings=model_settings.model_copy(update={"retries": 0}))
    assert made.embed_query("why") == pytest.approx([0.6, 0.8])
    assert made.embed_documents(["a", "b"])[0] == pytest.approx([0.6, 0.8])
    assert inputs == [["why"], ["a", "b"]]
    with pytest.raises(ModelUnavailable, match="did not accept the key"):
        made.embed_query("locked")
    with pytest.raises(ModelUnavailable, match="did not accept the key"):
        await made.aembed_documents(["locked"])


@cases(
    ("", "There is no embedding model ''"),
    ("miniml", "There is no embedding model 'miniml'"),
    ("openai:", "There is no embedding model 'openai:'"),
    ("nobody:x", "There is no embedding model 'nobody:x'"),
    ("openai:text-embedding-3-small", "needs a key.*OPENAI_API_KEY"),
    ("cohere:x", "needs the package langchain-cohere"),
    ("http://somewhere/v1", "is not a server and an embedding model"),
    ("http://#m", "is not a server and an embedding model"),
)
def test_names_that_cannot_be_used(name: str, told: str, model_settings: ModelSettings) -> None:
    with pytest.raises((ModelUnavailable, BadInput), match=told):
        embeddings(name, settings=model_settings)


def test_a_secret_in_a_name_is_refused_and_not_repeated(model_settings: ModelSettings) -> None:
    with pytest.raises(BadInput, match="PLANWEAVE_API_KEY") as raised:
        embeddings("http://me:hunter2@somewhere/v1#m", settings=model_settings)
    assert "hunter2" not in str(raised.value)
