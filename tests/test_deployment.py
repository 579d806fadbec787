"""The image and the compose file hold what the product needs, and name what exists."""

import re
import tomllib
from pathlib import Path
from typing import Any

import yaml
from packaging.requirements import Requirement

from planweave.apps.server.settings import ServerSettings
from planweave.apps.service import Service, ServiceSettings
from planweave.models.settings import ModelSettings

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
COMPOSE: Any = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
APP: dict[str, str] = COMPOSE["services"]["app"]["environment"]


def test_the_image_holds_every_package() -> None:
    folders = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests"}
    dockerfile = (ROOT / "Dockerfile").read_text("utf-8")
    assert set(re.findall(r"^COPY (\w+) \1$", dockerfile, re.MULTILINE)) == folders
    let_in = set(re.findall(r"^!(.+)$", (ROOT / ".dockerignore").read_text("utf-8"), re.MULTILINE))
    copied = re.findall(r"^COPY (?!--)(.+) \S+$", dockerfile, re.MULTILINE)
    assert {name for names in copied for name in names.split()} == let_in
    assert all((ROOT / name).exists() for name in let_in)


def test_the_lock_of_the_image_holds_what_a_server_needs() -> None:
    locked = (ROOT / "requirements-serve.lock").read_text("utf-8")
    names = set(re.findall(r"^([\w.-]+)==", locked, re.MULTILINE))
    extras = PROJECT["project"]["optional-dependencies"]
    wanted = [
        *PROJECT["project"]["dependencies"],
        *(line for extra in ("serve", "mcp", "documents", "embedded") for line in extras[extra]),
    ]
    assert not {Requirement(line).name for line in wanted} - names


def test_the_settings_of_the_compose_file_exist() -> None:
    assert "api_key" in ModelSettings.model_fields
    own = (*ServiceSettings.model_fields, "api_key")
    known = {f"PLANWEAVE_{name.upper()}" for name in own}
    known |= {f"PLANWEAVE_SERVE_{name.upper()}" for name in ServerSettings.model_fields}
    assert "PLANWEAVE_SERVE_URL" in APP
    assert {name for name in APP if name.startswith("PLANWEAVE_")} <= known


def test_the_service_of_the_compose_file_is_one() -> None:
    text = (ROOT / "deploy" / "service.json").read_text("utf-8")
    service = Service.model_validate_json(text)
    assert "neo4j" in COMPOSE["services"]
    assert all("@neo4j:" in url for url in service.graphs.values())
    assert set(re.findall(r"\$\{(\w+)\}", text)) <= set(APP)


def test_only_this_machine_reaches_the_server_and_no_password_is_written_down() -> None:
    assert all(port.startswith("127.0.0.1:") for port in COMPOSE["services"]["app"]["ports"])
    assert not any(COMPOSE["services"][name].get("ports") for name in ("postgres", "neo4j"))
    secrets = [
        str(value)
        for service in COMPOSE["services"].values()
        for name, value in service.get("environment", {}).items()
        if re.search("PASSWORD|KEY|AUTH|URL", name)
    ]
    assert len(secrets) >= 5
    assert all("${" in secret for secret in secrets)
