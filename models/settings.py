"""Settings of the process: folders, patience, and keys.

The model of a run, its temperature and its number of tokens are arguments of the run. The settings
here never change between two runs of one process.
"""

from functools import cache
from pathlib import Path
from typing import Literal

import platformdirs
from pydantic import AliasChoices, Field, SecretStr
from pydantic_settings import SettingsConfigDict

from planweave.state import ProcessSettings, read_settings


class ModelSettings(ProcessSettings):
    """Read from ``PLANWEAVE_*`` variables and ``.env``; immutable and hashable."""

    model_config = SettingsConfigDict(
        frozen=True, populate_by_name=True, use_attribute_docstrings=True
    )

    cache_dir: Path = Field(default_factory=lambda: platformdirs.user_cache_path("planweave"))
    """Folder of the response cache."""
    weights_dir: Path = Field(
        default_factory=lambda: platformdirs.user_data_path("planweave") / "weights"
    )
    """Folder of the embedded models' weights."""
    weights_url: str = "https://huggingface.co"
    """Site that serves the models' official repositories, or a mirror of it."""
    gguf: Path | None = None
    """The GGUF file that the name `embedded` refers to."""
    threads: int | None = Field(default=None, ge=1)
    """Threads of the embedded model; the physical cores if unset."""
    n_ctx: int = Field(default=8192, ge=512)
    """Context of the embedded model, tokens."""
    response_cache: Literal["off", "deterministic", "all"] = "deterministic"
    """Which replies are stored on disk: none, those at temperature 0, or all."""
    requests_per_second: float | None = Field(default=None, gt=0)
    """Limit on requests to one provider; unlimited if unset."""
    retries: int = Field(default=4, ge=0, le=20)
    """Further attempts after a 429, a 5xx or a time-out."""
    timeout: float = Field(default=300.0, gt=0)
    """Seconds to wait for one reply."""
    prices: Path | None = None
    """A JSON file of prices that override the built-in table."""
    api_key: SecretStr | None = None
    """Key for servers that are named by their URL."""
    query_instruction: str | None = None
    """Text before a question, instead of the embedding model's own."""
    document_instruction: str | None = None
    """Text before a document, instead of the embedding model's own."""
    openai_api_key: SecretStr | None = Field(
        default=None, validation_alias=AliasChoices("PLANWEAVE_OPENAI_API_KEY", "OPENAI_API_KEY")
    )
    """Key for `openai:` models."""


@cache
def process_settings() -> ModelSettings:
    """Settings of this process, read once; see :func:`read_settings`."""
    return read_settings(ModelSettings)
