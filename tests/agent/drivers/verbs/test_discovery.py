"""Finding pyverbs, and the RDMA port of an experiment address."""

from pathlib import Path
from types import ModuleType

import pytest
from helpers.fake_verbs import fake_sysfs

from rogue.agent.drivers.verbs.discovery import PortAddress, find_port, gid_of, roce_ports
from rogue.agent.drivers.verbs.pyverbs import VerbsError, VerbsUnavailable, load

GID = "0000:0000:0000:0000:0000:ffff:0a09:0001"


@pytest.mark.parametrize(
    ("address", "gid"), [("10.9.0.1", GID), ("fd00::1", "fd00:0000:0000:0000:0000:0000:0000:0001")]
)
def test_an_address_is_written_as_the_kernel_writes_gids(address: str, gid: str) -> None:
    assert gid_of(address) == gid


def test_the_port_of_the_experiment_address_is_found(tmp_path: Path) -> None:
    fake_sysfs(tmp_path, GID)
    assert find_port("10.9.0.1", tmp_path) == PortAddress(
        "rxe0", 1, 1, GID, 2_500_000_000, "eth1", "software", "ACTIVE"
    )


def test_a_known_port_needs_no_search(tmp_path: Path) -> None:
    known = PortAddress("rxe3", 1, 2, GID, 10**10)
    assert find_port("10.9.0.1", tmp_path / "absent", [known]) is known


def test_an_unreadable_entry_is_ignored(tmp_path: Path) -> None:
    fake_sysfs(tmp_path, GID)
    table = tmp_path / "rxe0" / "ports" / "1"
    (table / "gids" / "7").mkdir()
    (table / "gid_attrs" / "types" / "1").unlink()
    with pytest.raises(VerbsUnavailable, match="no RoCE v2 GID for experiment address"):
        find_port("10.9.0.1", tmp_path)


def test_a_fresh_table_is_read_up_to_its_first_gap(tmp_path: Path) -> None:
    """A thousand entries of a device that has one address."""
    fake_sysfs(tmp_path, GID)
    (tmp_path / "rxe0" / "ports" / "1" / "gids" / "0").write_text(f"{':'.join(['0000'] * 8)}\n")
    assert [port.gid for port in roce_ports(tmp_path)] == [GID]
    assert roce_ports(tmp_path, is_fresh=True) == []


def test_a_roce_v1_entry_is_ignored(tmp_path: Path) -> None:
    fake_sysfs(tmp_path, GID)
    port = tmp_path / "rxe0" / "ports" / "1"
    (port / "gid_attrs" / "types" / "1").write_text("IB/RoCE v1\n")
    (port / "gids" / "10").write_text(f"{GID}\n")
    (port / "gid_attrs" / "types" / "10").write_text("RoCE v2\n")
    assert find_port("10.9.0.1", tmp_path).gid_index == 10


def test_an_unknown_address_is_an_error_with_the_known_ones(tmp_path: Path) -> None:
    fake_sysfs(tmp_path, GID)
    with pytest.raises(VerbsUnavailable, match=f"10.9.0.2; this node has rxe0/1: fe80.*rxe0/1: {GID}"):
        find_port("10.9.0.2", tmp_path)


def test_a_node_without_devices_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(VerbsUnavailable, match="no RDMA device with an address"):
        find_port("10.9.0.1", tmp_path / "absent")


@pytest.mark.parametrize("address", ["", "h1", "10.9.0.1/24", "10.9.0.256"])
def test_an_invalid_address_is_an_error(address: str) -> None:
    with pytest.raises(VerbsUnavailable, match="is not an IP address"):
        gid_of(address)


@pytest.mark.parametrize(
    ("text", "rate_bps"), [("40 Gb/sec (4X QDR)", 40_000_000_000), ("", 0), ("fast", 0), ("x Gb/sec", 0)]
)
def test_the_rate_is_what_the_kernel_states(tmp_path: Path, text: str, rate_bps: int) -> None:
    fake_sysfs(tmp_path, GID)
    (tmp_path / "rxe0" / "ports" / "1" / "rate").write_text(text)
    assert find_port("10.9.0.1", tmp_path).rate_bps == rate_bps


def test_a_card_has_a_driver_and_a_model(tmp_path: Path) -> None:
    fake_sysfs(tmp_path / "sysfs", GID)
    device = tmp_path / "sysfs" / "rxe0"
    (device / "hca_type").write_text("MT4103\n")
    (tmp_path / "mlx4_core").mkdir()
    (device / "device").mkdir()
    (device / "device" / "driver").symlink_to(tmp_path / "mlx4_core")
    found = find_port("10.9.0.1", tmp_path / "sysfs")
    assert (found.driver, found.hca_type) == ("mlx4_core", "MT4103")


class Modules:
    """Replaces importlib; knows these names only."""

    def __init__(self, *enum_modules: str) -> None:
        names = ("addr", "cq", "device", "mr", "pd", "qp", "wr", "pyverbs_error")
        self._known = {f"pyverbs.{name}" for name in names} | set(enum_modules)

    def import_module(self, name: str) -> ModuleType:
        if name not in self._known:
            raise ModuleNotFoundError(f"No module named '{name}'")
        module = ModuleType(name)
        module.PyverbsError = OSError  # type: ignore[attr-defined]
        return module


@pytest.mark.parametrize(
    "names", [["pyverbs.enums"], ["pyverbs.libibverbs_enums"], ["pyverbs.libibverbs_enums", "pyverbs.enums"]]
)
def test_the_newest_name_of_the_enumerations_is_imported(names: list[str]) -> None:
    assert load(Modules(*names).import_module).enums.__name__ == names[0]


def test_without_pyverbs_the_package_is_named() -> None:
    with pytest.raises(VerbsUnavailable, match="install the distribution's package python3-pyverbs"):
        load(Modules().import_module)


@pytest.mark.parametrize(
    ("qp_num", "text"),
    [(17, "ibv_modify_qp on queue pair 17: Errno: 22"), (None, "ibv_modify_qp: Errno: 22")],
)
def test_a_failed_verb_names_its_queue_pair(qp_num: int | None, text: str) -> None:
    assert str(VerbsError("ibv_modify_qp", "Errno: 22", qp_num)) == text
