"""A transformer of a few bytes in ONNX's own wire format, with a tokenizer of ten words."""

import struct
from pathlib import Path

from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

WORDS = ["[UNK]", "hydrogen", "costs", "money", "water", "is", "wet", "why", "a", "b"]


def write_model(folder: Path) -> Path:
    """Write model.onnx and tokenizer.json; the vector of a token is (its number, 1)."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(_model())
    tokenizer = Tokenizer(WordLevel({word: n for n, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def _model() -> bytes:
    table = b"".join(struct.pack("<ff", n, 1) for n in range(len(WORDS)))
    dims = _number(1, len(WORDS)) + _number(1, 2)
    graph = _field(1, _node("Gather", ["table", "input_ids"], "out")) + _field(2, b"tiny")
    graph += _field(5, dims + _number(2, 1) + _field(8, b"table") + _field(9, table))
    graph += _field(11, _value("input_ids", 7, 2)) + _field(11, _value("attention_mask", 7, 2))
    graph += _field(12, _value("out", 1, 3))
    return _number(1, 7) + _field(8, _field(1, b"") + _number(2, 11)) + _field(7, graph)


def _node(operation: str, inputs: list[str], output: str) -> bytes:
    given = b"".join(_field(1, name.encode()) for name in inputs)
    return given + _field(2, output.encode()) + _field(4, operation.encode())


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
