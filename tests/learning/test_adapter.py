"""An adapter: what is packed together, what is learnt, what llama.cpp gets."""

from pathlib import Path

import numpy as np
import pytest

gguf = pytest.importorskip("gguf", reason="the extra `learning` is not installed")
pytest.importorskip("jax", reason="the extra `learning` is not installed")
import jax.numpy as jnp  # noqa: E402
from cases import cases  # noqa: E402

from planweave.learning.adapter import AdapterSettings, Ground, Item, Step, loss, pack, train  # noqa: E402
from planweave.learning.language_model import (  # noqa: E402
    CHANGED,
    LanguageModel,
    new_adapter,
    read_model,
    write_adapter,
)

WIDTH, HEADS, DEPTH, VOCABULARY = 64, 4, 3, 40
SHAPES = {
    "attn_q": (WIDTH, WIDTH),
    "attn_k": (WIDTH // 2, WIDTH),
    "attn_v": (WIDTH // 2, WIDTH),
    "attn_output": (WIDTH, WIDTH),
    "ffn_gate": (96, WIDTH),
    "ffn_up": (96, WIDTH),
    "ffn_down": (WIDTH, 96),
}
GROUND = Ground(
    [1, 2, 3, 4, 5],
    [Item([6, 7], [8, 9, 10], 1.0), Item([11], [12], 0.5), Item([13, 14, 15], [16, 17], 2.0)],
)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> LanguageModel:
    """A small model of the embedded one's kind, with random weights, through a GGUF file."""
    path = tmp_path_factory.mktemp("model") / "small.gguf"
    drawn = np.random.default_rng(1)
    writer = gguf.GGUFWriter(path, "qwen2")
    writer.add_block_count(DEPTH)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS // 2)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(1e6)

    def add(name: str, *shape: int) -> None:
        writer.add_tensor(name, drawn.normal(0, 0.2, shape).astype(np.float32))

    for number in range(DEPTH):
        for name, shape in SHAPES.items():
            add(f"blk.{number}.{name}.weight", *shape)
        for name in ("attn_q", "attn_k", "attn_v"):
            add(f"blk.{number}.{name}.bias", SHAPES[name][0])
        for name in ("attn_norm", "ffn_norm"):
            add(f"blk.{number}.{name}.weight", WIDTH)
    add("token_embd.weight", VOCABULARY, WIDTH)
    add("output_norm.weight", WIDTH)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return read_model(path, jnp.float32)


def test_no_question_reads_another(model: LanguageModel) -> None:
    """The loss of a sequence is the weighted mean of those of its items, each by itself."""
    adapter = new_adapter(model, 2, 4, seed=1)
    whole = float(loss(adapter, model, pack(GROUND), 2.0))
    alone = [
        float(loss(adapter, model, pack(Ground(GROUND.tokens, [item])), 2.0))
        for item in GROUND.items
    ]
    assert whole == pytest.approx(np.average(alone, weights=[1.0, 0.5, 2.0]), rel=1e-5)


def test_what_is_learnt_lowers_the_loss(model: LanguageModel) -> None:
    settings = AdapterSettings(layers=2, rank=4, rate=1e-2, warm_up=1)
    steps: list[Step] = []
    adapter = train(model, [GROUND] * 20, settings, progress=steps.append)
    assert [step.done for step in steps] == list(range(1, 21))
    assert steps[-1].loss < steps[0].loss - 0.5
    assert float(loss(adapter, model, pack(GROUND), settings.scale)) < steps[0].loss - 0.5


def test_training_ends_in_time(model: LanguageModel) -> None:
    steps: list[Step] = []
    train(model, [GROUND] * 20, AdapterSettings(layers=2, seconds=0), progress=steps.append)
    assert steps == []


@cases(*CHANGED)
def test_the_file_holds_the_upper_layers(name: str, model: LanguageModel, tmp_path: Path) -> None:
    adapter = new_adapter(model, 2, 4, seed=1)
    write_adapter(tmp_path / "adapter.gguf", adapter, model.depth, 2.0)
    reader = gguf.GGUFReader(tmp_path / "adapter.gguf")
    tensors = {tensor.name: tensor for tensor in reader.tensors}
    assert len(tensors) == 2 * 2 * len(CHANGED)
    assert reader.fields["adapter.lora.alpha"].contents() == 8.0
    for layer in (0, 1):
        wide = tensors[f"blk.{DEPTH - 2 + layer}.{name}.weight.lora_a"]
        kept = gguf.quants.dequantize(wide.data, wide.tensor_type)
        assert kept == pytest.approx(np.asarray(adapter[name][0][layer]), abs=2e-3)
