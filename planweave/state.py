"""Settings of the process, and the folders for data that outlasts a run."""

import re
from pathlib import Path
from typing import TypeVar

import platformdirs
from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict, SettingsError

from planweave.errors import BadInput, StoreUnusable, place_and_reason

_MAX_NAME_BYTES = 200  # file systems allow 255 bytes, which may be 64 letters

Settings = TypeVar("Settings", bound=BaseSettings)


def read_settings(kind: type[Settings]) -> Settings:
    """Read settings from the environment and ``.env``."""
    try:
        return kind()
    except SettingsError as error:  # only its text names the field, in quotes
        place, reason = str(error).split('"')[1:2], "it is not JSON"
    except ValidationError as error:
        place, reason = place_and_reason(error)
    name, *inside = map(str, place)
    prefix = str(kind.model_config.get("env_prefix", ""))
    variable = name.upper() if name.upper().startswith("PLANWEAVE_") else f"{prefix}{name.upper()}"
    raise BadInput(
        f"The setting {variable} cannot be used: {': '.join([*inside, reason])}.",
        fix="Correct it in the environment or in the file .env.",
    )


def is_file_name(name: str, form: re.Pattern[str]) -> bool:
    """Whether a name has this form, and its parts are short enough for file names with endings."""
    fits = all(len(part.encode()) <= _MAX_NAME_BYTES for part in name.split("/"))
    return form.fullmatch(name) is not None and fits


def private_folder(folder: Path, what: str, variable: str) -> Path:
    """Create a folder for its owner alone, unless it exists; ``variable`` sets another place."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnusable(
            f"The folder {folder} for {what} cannot be made ({error.strerror}).",
            fix=f"Set {variable} to a folder that can be written.",
        ) from None
    return folder


class ProcessSettings(BaseSettings):
    """Settings from environment variables and ``.env``."""

    model_config = SettingsConfigDict(env_prefix="PLANWEAVE_", env_file=".env", extra="ignore")


class StateSettings(ProcessSettings):
    """The folder for threads, long-term memory and experience (``PLANWEAVE_STATE_DIR``)."""

    state_dir: Path = Field(default_factory=lambda: platformdirs.user_state_path("planweave"))
