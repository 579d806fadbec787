"""Where what outlasts a run is kept."""

from pathlib import Path

import platformdirs
from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class StateSettings(BaseSettings):
    """Where threads, long-term memory and experience are kept (``PLANWEAVE_STATE_DIR``)."""

    model_config = SettingsConfigDict(env_prefix="PLANWEAVE_", env_file=".env", extra="ignore")

    state_dir: Path = Field(default_factory=lambda: platformdirs.user_state_path("planweave"))
