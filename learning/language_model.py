"""A Qwen2 model in JAX, read from its GGUF file, with low-rank changes of its upper layers."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

if TYPE_CHECKING:
    from gguf import GGUFReader

Weights: TypeAlias = dict[str, jax.Array]
Adapter: TypeAlias = dict[str, tuple[jax.Array, jax.Array]]
"""For each changed matrix [layers, rank, in] and [layers, out, rank]; their product is added."""

CHANGED = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_down")
"""The changed matrices, by llama.cpp's names."""

_MASKED = -1e9


class Shape(NamedTuple):
    """The shape of the model, from its file."""

    heads: int
    kv_heads: int
    epsilon: float
    theta: float  # base of the rotary positions


@partial(
    jax.tree_util.register_dataclass,
    data_fields=("layers", "embeddings", "norm", "output"),
    meta_fields=("shape",),
)
@dataclass(frozen=True)
class LanguageModel:
    """Weights: those of all layers in one array [layers, out, in] by llama.cpp's names."""

    layers: Weights
    embeddings: jax.Array  # [vocabulary, width]
    norm: jax.Array
    output: jax.Array  # [vocabulary, width]
    shape: Shape

    @property
    def depth(self) -> int:
        """Number of layers."""
        return int(self.layers["attn_norm.weight"].shape[0])


def read_model(path: Path, dtype: jnp.dtype) -> LanguageModel:
    """Read a model from a GGUF file, with the weights as llama.cpp reads them."""
    from gguf import GGUFReader

    reader = GGUFReader(path)
    arrays = {name: jnp.asarray(value, dtype) for name, value in _read_arrays(reader)}
    depth = int(_read_field(reader, "block_count"))
    names = sorted({name.split(".", 2)[2] for name in arrays if name.startswith("blk.")})
    layers = {
        name: jnp.stack([arrays.pop(f"blk.{number}.{name}") for number in range(depth)])
        for name in names
    }
    embeddings = arrays["token_embd.weight"]
    shape = Shape(
        int(_read_field(reader, "attention.head_count")),
        int(_read_field(reader, "attention.head_count_kv")),
        float(_read_field(reader, "attention.layer_norm_rms_epsilon")),
        float(_read_field(reader, "rope.freq_base")),
    )
    output = arrays.get("output.weight", embeddings)
    return LanguageModel(layers, embeddings, arrays["output_norm.weight"], output, shape)


def _read_arrays(reader: "GGUFReader") -> Iterator[tuple[str, np.ndarray]]:
    from gguf.quants import dequantize

    for tensor in reader.tensors:
        yield tensor.name, dequantize(tensor.data, tensor.tensor_type)


def _read_field(reader: "GGUFReader", name: str) -> float:
    return float(reader.fields[f"qwen2.{name}"].contents())


def new_adapter(model: LanguageModel, layers: int, rank: int, seed: int) -> Adapter:
    """An adapter of the upper ``layers`` that changes nothing yet."""
    adapter = {}
    keys = jax.random.split(jax.random.PRNGKey(seed), len(CHANGED))
    for key, name in zip(keys, CHANGED, strict=True):
        _, rows, columns = model.layers[f"{name}.weight"].shape
        bound = columns**-0.5
        down = jax.random.uniform(key, (layers, rank, columns), minval=-bound, maxval=bound)
        adapter[name] = down, jnp.zeros((layers, rows, rank))
    return adapter


def hidden_states(
    model: LanguageModel,
    adapter: Adapter,
    scale: float,
    tokens: jax.Array,
    places: jax.Array,
    seen: jax.Array,
) -> jax.Array:
    """Last hidden states [n, width] of ``tokens`` [n] at ``places`` [n].

    ``seen`` [n, n] tells which tokens (columns) each token (row) reads.
    """
    below = model.depth - next(iter(adapter.values()))[0].shape[0]
    lower = {name: value[:below] for name, value in model.layers.items()}
    upper = {name: value[below:] for name, value in model.layers.items()}
    turns = _rotations(model, places)
    block = partial(_block, turns=turns, seen=seen, shape=model.shape, scale=scale)
    state = model.embeddings[tokens]
    state, _ = lax.scan(lambda x, w: (block(x, w, {}), None), state, lower)
    state = lax.stop_gradient(state)
    lean = jax.checkpoint(block)  # recomputes the states inside a layer instead of keeping them
    state, _ = lax.scan(lambda x, w: (lean(x, *w), None), state, (upper, adapter))
    return _normalise(state, model.norm, model.shape.epsilon)


def _rotations(model: LanguageModel, places: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Cosine and sine [n, 1, half a head] of the rotary positions."""
    half = model.layers["attn_q.weight"].shape[1] // model.shape.heads // 2
    angles = places[:, None] * model.shape.theta ** (-jnp.arange(half) / half)
    return jnp.cos(angles)[:, None], jnp.sin(angles)[:, None]


def _block(
    state: jax.Array,
    weights: Weights,
    adapter: Adapter,
    *,
    turns: tuple[jax.Array, jax.Array],
    seen: jax.Array,
    shape: Shape,
    scale: float,
) -> jax.Array:
    """One layer: attention, then the gated network, each added to the state."""
    size = len(state)

    def linear(x: jax.Array, name: str) -> jax.Array:
        y = x @ weights[f"{name}.weight"].T
        if f"{name}.bias" in weights:
            y = y + weights[f"{name}.bias"]
        if name in adapter:
            down, up = (part.astype(x.dtype) for part in adapter[name])
            y = y + (x @ down.T) @ up.T * scale
        return y

    x = _normalise(state, weights["attn_norm.weight"], shape.epsilon)
    queries = _rotate(linear(x, "attn_q").reshape(size, shape.heads, -1), turns)
    keys = _rotate(linear(x, "attn_k").reshape(size, shape.kv_heads, -1), turns)
    values = linear(x, "attn_v").reshape(size, shape.kv_heads, -1)
    keys, values = (jnp.repeat(one, shape.heads // shape.kv_heads, 1) for one in (keys, values))
    scores = jnp.einsum("qhd,khd->hqk", queries, keys) * queries.shape[-1] ** -0.5
    scores = jnp.where(seen, scores.astype(jnp.float32), _MASKED)
    read = jnp.einsum("hqk,khd->qhd", jax.nn.softmax(scores).astype(x.dtype), values)
    state = state + linear(read.reshape(size, -1), "attn_output")
    x = _normalise(state, weights["ffn_norm.weight"], shape.epsilon)
    return state + linear(jax.nn.silu(linear(x, "ffn_gate")) * linear(x, "ffn_up"), "ffn_down")


def _rotate(x: jax.Array, turns: tuple[jax.Array, jax.Array]) -> jax.Array:
    cosine, sine = turns
    first, second = jnp.split(x.astype(jnp.float32), 2, axis=-1)
    turned = first * cosine - second * sine, second * cosine + first * sine
    return jnp.concatenate(turned, axis=-1).astype(x.dtype)


def _normalise(x: jax.Array, weight: jax.Array, epsilon: float) -> jax.Array:
    wide = x.astype(jnp.float32)
    wide = wide * lax.rsqrt((wide**2).mean(-1, keepdims=True) + epsilon)
    return wide.astype(x.dtype) * weight


def write_adapter(path: Path, adapter: Adapter, depth: int, scale: float) -> None:
    """Write an adapter as llama.cpp reads it: the wide parts in 8 bits, the others in 16."""
    from gguf import GGMLQuantizationType, GGUFWriter
    from gguf.quants import quantize

    layers, rank, _ = next(iter(adapter.values()))[0].shape
    writer = GGUFWriter(path, "qwen2")
    writer.add_string("general.type", "adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", scale * rank)
    kind = GGMLQuantizationType.Q8_0
    for number in range(layers):
        for name, (down, up) in adapter.items():
            tensor = f"blk.{depth - layers + number}.{name}.weight.lora_"
            wide = quantize(np.asarray(down[number], np.float32), kind)
            writer.add_tensor(f"{tensor}a", wide, raw_dtype=kind)
            writer.add_tensor(f"{tensor}b", np.asarray(up[number], np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
