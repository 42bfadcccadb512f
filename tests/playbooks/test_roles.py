"""Tests of every role without a machine: its variables, its place, and what it refuses."""

from pathlib import Path
from typing import Any

import pytest
import yaml

PLAYBOOKS = Path(__file__).parents[2] / "playbooks"
ROLES = sorted(path.name for path in (PLAYBOOKS / "roles").iterdir())
OF_THE_INVENTORY = {"experiment_interface", "experiment_mtu"}
SHARED = {"kernel_modules", "packages"}
"""Roles that other roles and plays call."""
PAGE = (PLAYBOOKS.parent / "docs/reference/provisioning.md").read_text()


def load(role: str, part: str) -> Any:
    return yaml.safe_load((PLAYBOOKS / "roles" / role / part).read_text())


def options(role: str) -> dict[str, dict[str, Any]]:
    specification: dict[str, dict[str, Any]] = load(role, "meta/argument_specs.yml")["argument_specs"]["main"]
    return specification.get("options", {})


@pytest.mark.parametrize("role", ROLES)
def test_role_variables_are_described_and_typed(role: str) -> None:
    for name, option in options(role).items():
        assert name.startswith(f"{role}_") or name in OF_THE_INVENTORY, name
        assert option["description"].endswith("."), name
        assert "type" in option, name


@pytest.mark.parametrize("role", ROLES)
def test_described_defaults_are_the_defaults(role: str) -> None:
    said = {name: option["default"] for name, option in options(role).items() if "default" in option}
    assert said == load(role, "defaults/main.yml")


@pytest.mark.parametrize("role", [role for role in ROLES if role not in SHARED])
def test_role_is_played_and_documented(role: str) -> None:
    plays = [
        play
        for name in ("provision", "switch")
        for play in yaml.safe_load((PLAYBOOKS / f"{name}.yml").read_text())
    ]
    assert role in {each["role"] for play in plays for each in play.get("roles", [])}
    assert f"| `{role}` |" in PAGE


def test_a_preflight_needs_no_root() -> None:
    """`rogue run` calls the doctor first, for users who may only start the agent."""
    (play,) = yaml.safe_load((PLAYBOOKS / "preflight.yml").read_text())
    assert play["become"] is False
