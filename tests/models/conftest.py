"""Settings that touch nothing of the user's."""

from pathlib import Path

import pytest

from planweave.models import ModelSettings


@pytest.fixture
def model_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModelSettings:
    for variable in ("OPENAI_API_KEY", "PLANWEAVE_OPENAI_API_KEY", "PLANWEAVE_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    return ModelSettings(
        _env_file=None,  # type: ignore[call-arg] # pydantic-settings takes it
        cache_dir=tmp_path / "cache",
        weights_dir=tmp_path / "weights",
        gguf=None,
        response_cache="off",
        retries=3,
        timeout=20,
    )
