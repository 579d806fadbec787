"""Transformers of a few bytes, written in ONNX's own wire format, with a tokenizer of ten words."""

import struct
from pathlib import Path

from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

WORDS = ["[UNK]", "hydrogen", "costs", "money", "water", "is", "wet", "why", "a", "b"]


def write_model(folder: Path, kind: str) -> Path:
    """Write model.onnx and tokenizer.json.

    Args:
        folder: Made if need be.
        kind: "tokens": the vector of a token is (its number, 1); "score": a text's or pair's
            label is the sum of its tokens' numbers; "labels": three of them, all alike.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(_model(kind))
    tokenizer = Tokenizer(WordLevel({word: n for n, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def _model(kind: str) -> bytes:
    if kind == "tokens":
        nodes = [_node("Gather", ["table", "input_ids"], "out")]
        table = b"".join(struct.pack("<ff", n, 1) for n in range(len(WORDS)))
        constants = [("table", [len(WORDS), 2], table)]
    else:
        sums = _attribute("axes", [1]) + _attribute("keepdims", 1)
        out = "sum" if kind == "labels" else "out"
        nodes = [
            _node("Cast", ["input_ids"], "numbers", _attribute("to", 1)),
            _node("ReduceSum", ["numbers"], out, sums),
        ]
        constants = []
        if kind == "labels":
            nodes.append(_node("Concat", ["sum"] * 3, "out", _attribute("axis", 1)))
    graph = b"".join(_field(1, node) for node in nodes) + _field(2, b"tiny")
    for name, shape, raw in constants:
        dims = b"".join(_number(1, size) for size in shape)
        graph += _field(5, dims + _number(2, 1) + _field(8, name.encode()) + _field(9, raw))
    graph += _field(11, _value("input_ids", 7, 2)) + _field(11, _value("attention_mask", 7, 2))
    graph += _field(12, _value("out", 1, 3 if kind == "tokens" else 2))
    return _number(1, 7) + _field(8, _field(1, b"") + _number(2, 11)) + _field(7, graph)


def _node(operation: str, inputs: list[str], output: str, attributes: bytes = b"") -> bytes:
    given = b"".join(_field(1, name.encode()) for name in inputs)
    return given + _field(2, output.encode()) + _field(4, operation.encode()) + attributes


def _attribute(name: str, value: int | list[int]) -> bytes:
    if isinstance(value, int):
        return _field(5, _field(1, name.encode()) + _number(3, value) + _number(20, 2))
    numbers = b"".join(_number(8, one) for one in value)
    return _field(5, _field(1, name.encode()) + numbers + _number(20, 7))


def _value(name: str, kind: int, rank: int) -> bytes:
    shape = b"".join(_field(1, _field(2, f"{name}{axis}".encode())) for axis in range(rank))
    return _field(1, name.encode()) + _field(2, _field(1, _number(1, kind) + _field(2, shape)))


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _number(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value)


def _varint(value: int) -> bytes:
    done = bytearray()
    while value > 127:
        done.append(value & 127 | 128)
        value >>= 7
    return bytes([*done, value])
