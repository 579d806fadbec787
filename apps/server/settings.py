"""The operator's settings: storage, users and their limits."""

from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field, SecretStr, TypeAdapter
from pydantic_settings import SettingsConfigDict

from planweave.records import read_object, writing
from planweave.state import ProcessSettings, StateSettings, private_folder, read_settings


class UserLimits(BaseModel, extra="forbid", frozen=True):
    """What one user may use; None is no limit."""

    max_runs: Annotated[int, Field(ge=1)] | None = 1_000  # waiting or running
    max_tokens_a_day: Annotated[int, Field(ge=1)] | None = None  # by UTC
    max_dollars_a_day: Annotated[float, Field(gt=0)] | None = None  # of models with a known price
    max_documents: Annotated[int, Field(ge=1)] | None = 1_000
    max_document_bytes: Annotated[int, Field(ge=1)] | None = 2_000_000_000  # on disk

    @property
    def has_daily_budget(self) -> bool:
        """Whether tokens or dollars are limited per day."""
        return self.max_tokens_a_day is not None or self.max_dollars_a_day is not None


class User(UserLimits, frozen=True):
    """A user: the SHA-256 of each API key in hexadecimal, and their limits."""

    keys: tuple[Annotated[str, Field(pattern="^[0-9a-f]{64}$")], ...] = ()


class ServerSettings(ProcessSettings):
    """Read from ``PLANWEAVE_SERVE_*`` variables and ``.env``; the same in every process."""

    model_config = SettingsConfigDict(
        env_prefix="PLANWEAVE_SERVE_", frozen=True, hide_input_in_errors=True
    )

    url: str = Field(
        default="",
        description="Storage of runs, checkpoints and memory: postgresql://… or a SQLite file; "
        "empty: a file below PLANWEAVE_STATE_DIR.",
    )
    users: Path | None = Field(default=None, description="JSON file of users and their keys.")
    auth: str = Field(
        default="", description="module:function that names the user of a request by its headers."
    )
    token: SecretStr = Field(
        default=SecretStr(""),
        description="Token that the caller of a server without users must send. `planweave serve` "
        "makes one at every start, unless it is set or --no-token is given.",
    )
    limits: UserLimits = Field(
        default=UserLimits(), description="Limits of users without their own."
    )
    origins: tuple[str, ...] = Field(
        default=(), description="Other web pages that may call this server."
    )
    jobs: int = Field(default=32, ge=1, description="Runs at once in one process.")
    run_seconds: float = Field(default=3600, gt=0, description="Longer runs are stopped.")
    lease_seconds: float = Field(
        default=15,
        gt=0.2,
        description="Another process takes over a run whose process is silent for longer.",
    )
    drain_seconds: int = Field(
        default=30, ge=0, description="How long runs may continue when the server stops."
    )
    keep_seconds: float = Field(
        default=600, gt=0, description="How long the events of a finished run are kept."
    )
    body_bytes: int = Field(
        default=4_000_000, ge=1_000, description="Larger request bodies are refused."
    )

    def database(self) -> str:
        """The URL of the server's own database; for SQLite a path."""
        if self.url:
            return self.url
        folder = StateSettings().state_dir / "serve"
        private_folder(folder, "the server", "PLANWEAVE_STATE_DIR")
        return str(folder / "serve.sqlite")

    @property
    def share(self) -> int:
        """Runs of one user that a process executes at once, so that others have room."""
        return max(1, self.jobs * 3 // 4)

    @property
    def shared(self) -> bool:
        """Whether the server has users; otherwise it serves one person on loopback."""
        return bool(self.users or self.auth)


@cache
def server_settings() -> ServerSettings:
    """Settings of this process; see :func:`read_settings`."""
    return read_settings(ServerSettings)


_USERS_ADAPTER = TypeAdapter(dict[str, User])


def read_users(path: Path) -> dict[str, User]:
    """Read the users of a file; empty if there is no such file."""
    fix = "Make keys with `planweave serve --new-key NAME`."
    return read_object(path, dict[str, User], fix=fix) if path.exists() else {}


def write_users(path: Path, users: dict[str, User]) -> None:
    """Write the users into a file that only its owner can read."""
    with writing(path, fix="Name another file with --users."):
        path.touch(mode=0o600)
        path.write_bytes(_USERS_ADAPTER.dump_json(users, indent=2, exclude_defaults=True))
