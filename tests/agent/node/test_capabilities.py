import os
from pathlib import Path

import pytest
from helpers.agent_roles import GID
from helpers.fake_dcb import FakeCard, FakeKernel
from helpers.fake_verbs import fake_sysfs

from rogue.agent.drivers import netlink
from rogue.agent.drivers.verbs.discovery import PortAddress
from rogue.agent.node import capabilities as module
from rogue.agent.node.capabilities import capabilities
from rogue.agent.node.messages import PROTOCOL
from rogue.agent.node.wire import REPLY_TYPES, decode, encode


@pytest.fixture
def controls(tmp_path: Path) -> Path:
    path = tmp_path / "available"
    path.write_text("reno cubic dctcp\n")
    return path


def program(directory: Path, name: str, output: str) -> None:
    path = directory / name
    path.write_text(f"#!/bin/sh\necho '{output}'\n")
    path.chmod(0o755)


def test_the_capabilities_of_a_node(tmp_path: Path, controls: Path) -> None:
    fake_sysfs(tmp_path / "sysfs", GID)
    found = capabilities(tmp_path / "sysfs", controls)
    assert found.protocol == PROTOCOL
    assert found.congestion_controls == ["reno", "cubic", "dctcp"]
    assert found.cores == os.cpu_count()
    assert [(port["device"], port["address"], port["netdev"]) for port in found.ports] == [
        ("rxe0", "fe80::", "eth1"),
        ("rxe0", "10.9.0.1", "eth1"),
    ]
    assert decode(encode(found), REPLY_TYPES) == found


def test_known_ports_need_no_search(tmp_path: Path, controls: Path) -> None:
    known = [PortAddress("rxe3", 1, 2, GID, 10**10, "eth3")]
    found = capabilities(tmp_path / "absent", controls, known=known)
    assert [(port["device"], port["address"]) for port in found.ports] == [("rxe3", "10.9.0.1")]


def test_a_node_without_devices_has_a_software_limiter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = capabilities(tmp_path / "sysfs", tmp_path / "absent")
    assert (found.ports, found.congestion_controls, found.limiters) == ([], [], ["software"])


def test_prepared_limiters_are_found(tmp_path: Path, controls: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_sysfs(tmp_path / "sysfs", GID)
    program(tmp_path, "tc", "class htb 1:11 parent 1: prio 0 rate 10Gbit ceil 10Gbit")
    monkeypatch.setattr(netlink, "netlink_socket", lambda: FakeKernel(eth1=FakeCard()))
    monkeypatch.setenv("PATH", str(tmp_path))
    found = capabilities(tmp_path / "sysfs", controls)
    assert found.limiters == ["htb:eth1", "dcb:eth1", "software"]
    assert capabilities(tmp_path / "sysfs", controls, is_built=True).limiters == ["software"]


def test_a_failed_program_and_shared_classes_mean_no_limiters(
    tmp_path: Path, controls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_sysfs(tmp_path / "sysfs", GID)
    monkeypatch.setattr(netlink, "netlink_socket", lambda: FakeKernel(eth1=FakeCard(prio_tc=(0,) * 8)))
    path = tmp_path / "tc"
    path.write_text("#!/bin/sh\necho class htb 1:11 parent\nexit 1\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert capabilities(tmp_path / "sysfs", controls).limiters == ["software"]


def test_the_version_is_that_of_rdma_core(
    tmp_path: Path, controls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert capabilities(tmp_path, controls, tmp_path).pyverbs is None
    monkeypatch.setattr(module, "find_spec", lambda name: name)
    assert capabilities(tmp_path, controls, tmp_path).pyverbs == "unknown"
    library = tmp_path / "lib" / "x86_64-linux-gnu" / "libibverbs.so.1.14.44.0"
    library.parent.mkdir(parents=True)
    library.touch()
    assert capabilities(tmp_path, controls, tmp_path).pyverbs == "44.0"
