from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from helpers.fake_agents import fake_inventory
from helpers.rack_inventory import rack_of

from rogue.harness.provisioning import doctor
from rogue.harness.provisioning.doctor import measure
from rogue.harness.provisioning.findings import Finding
from rogue.remote.errors import NodeError
from rogue.remote.login import Login


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is measured, with the hosts that have a shell."""
    found: list[str] = []
    for name in ("transfers", "marks", "roce_marks"):

        def note(
            _inventory: object, _facts: object, shells: dict[str, Any], name: str = name
        ) -> list[Finding]:
            found.append(f"{name} of {' '.join(shells)}")
            return []

        monkeypatch.setattr(doctor, f"measure_{name}", note)
    return found


@contextmanager
def opened(login: Login) -> Iterator[Any]:
    yield login.node


@contextmanager
def opened_but_one(login: Login) -> Iterator[Any]:
    if login.node == "h1":
        raise NodeError("h1: SSH failed")
    yield login.node


def test_one_shell_for_each_host_serves_everything(measured: list[str]) -> None:
    assert measure(rack_of("declared"), {}, opened) == []
    assert measured == ["transfers of h0 h1 h2 h3", "marks of h0 h1 h2 h3", "roce_marks of h0 h1 h2 h3"]


def test_without_one_host_marks_are_not_tried(measured: list[str]) -> None:
    (finding,) = measure(rack_of("declared"), {}, opened_but_one)
    assert (finding.node, measured) == ("h1", ["transfers of h0 h2 h3"])


def test_where_there_is_nothing_to_measure_nobody_logs_in(measured: list[str]) -> None:
    def open_shell(login: Login) -> Any:
        pytest.fail(f"it logs in to {login.node}")

    plain = replace(fake_inventory(), hardware_switches=())
    assert (measure(plain, {}, open_shell), measured) == ([], [])


def test_where_a_switch_marks_nothing_roce_is_not_tried(
    measured: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    refusal = Finding("h0", "marks by the switch", "none", "some", "set it up")
    monkeypatch.setattr(doctor, "measure_marks", lambda *_: [refusal])
    assert measure(rack_of("declared"), {}, opened) == [refusal]
    assert measured == ["transfers of h0 h1 h2 h3"]
