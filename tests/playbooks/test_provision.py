"""Tests: every role, played by Ansible, sets, installs and refuses what the golden file says."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from helpers.role_player import play, shipped_roles

_TITLE = (
    "# What each role does on each host of test_provision.py, which writes this file with UPDATE_GOLDEN=1.\n"
)
GOLDEN = Path(__file__).with_name("provisioned.yaml")
CARD = {"rdma_device_kind": "card", "experiment_interface": "eth1"}
SOFT_ROCE = {"rdma_device_kind": "soft_roce", "experiment_interface": "eth0"}
DOCA = {"ofed_version": "2.9.1", "ofed_url": "https://mirror/doca-host.deb", "ofed_sha256": "AB" * 32}
RHEL = {"family": "rhel", "distribution": "Rocky Linux 10"}
NODES: dict[str, dict[str, Any]] = {
    "card": {
        **CARD,
        **DOCA,
        "experiment_dscp": 30,
        "card_priorities_trust": "dscp",
        "card_priorities_paused": [3],
        "dcqcn_state": "disabled",
        "dcqcn_parameters": {"rp_ai_rate": 20},
        "tuning_idle_latency_us_max": 2,
        "tuning_features": {"lro": "off", "rx-usecs": 3},
        "base_package_proxy": "http://proxy:3142",
        "base_package_repository": "deb [trusted=yes] file:/srv/debs ./",
    },
    "connectx3": {
        **CARD,
        "driver": "mlx4_core",
        "only": "base rdma roce card_priorities dcqcn tuning packages ofed",
        "tuning_interrupts": False,
        "tuning_governor": "",
        "here": {"packages": [
            "ethtool", "ibverbs-providers", "ibverbs-utils", "iproute2", "iputils-ping", "kmod", "perftest",
            "procps", "python3", "python3-pyverbs",
        ]},
    },
    "old_connectx3": {
        **CARD, "driver": "mlx4_core", "only": "ofed", "ofed_version": "4.9-7.1",
        "facts": {"kernel": "5.4.0-100-generic"},
    },
    "other_card": {**CARD, "only": "ofed", "facts": {"interfaces": {"eth1": {"card": None}}}},
    "archive": {**CARD, "only": "ofed", "ofed_version": "2.9.1"},
    "soft_roce": {
        **SOFT_ROCE,
        "soft_roce_packages": ["linux-modules-extra-6.1"], "dcqcn_state": "enabled",
        "only": "rdma kernel_modules soft_roce priorities tcp",
    },
    "rocky": {
        **SOFT_ROCE,
        "facts": RHEL,
        "only": "base rdma kernel_modules soft_roce priorities packages",
        "experiment_address": "fd00::10",
        "base_package_repository": "baseurl=file:///srv/rpms gpgcheck=0",
        "here": {"packages": ["iproute", "kmod"]},
    },
    "switch": {"group": "switch", "switch_linux_trees": {"eth0": [], "eth1": ["qdisc add dev eth1 root"]}},
}  # fmt: skip
UNKNOWN_DCQCN = {"interfaces": {"eth1": {"card": {
    "pci": "", "driver": "mlx5_core", "model": "MT4119",
    "dcqcn": {"state": "unknown", "switches": {}, "parameters": {}, "reason": "the inbox driver"},
}}}}  # fmt: skip
REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("base", {"base_package_proxy": 'http://p";\nDPkg::Pre-Invoke {"id";};'}),
    ("base", {"base_package_repository": "deb file:/srv ./\ndeb http://elsewhere ./"}),
    ("base", {"base_packages": ["--allow-unauthenticated"]}),
    ("base", {"base_packages": ["sudo-"]}),
    ("base", {"base_packages": ["/tmp/a.deb"]}),
    ("base", {"facts": RHEL, "base_package_repository": "baseurl=file:///srv gpgcheck=0 proxy=http://p"}),
    ("base", {"facts": RHEL, "base_package_proxy": "http://proxy:3142"}),
    ("kernel_modules", {"rdma_kernel_modules": ["--config=/tmp/a"]}),
    ("kernel_modules", {"tcp_congestion_controls": ["dctcp --force"]}),
    ("rdma", {"rdma_locked_memory": "unlimited\nroot hard nproc 0"}),
    ("rdma", {"rdma_device_kind": "soft_roce", "soft_roce_packages": ["a b"]}),
    ("ofed", {**DOCA, "ofed_url": "ftp://a"}),
    ("ofed", {**DOCA, "ofed_version": "2.9; id"}),
    ("ofed", {**DOCA, "ofed_sha256": "ab"}),
    ("ofed", {**DOCA, "facts": RHEL}),
    ("ofed", {**DOCA, "driver": "mlx4_core", "ofed_version": "4.9-7.1"}),
    ("ofed", {"driver": "mlx4_core", "ofed_version": "5.0", "facts": {"kernel": "5.4.0-100-generic"}}),
    ("ofed", {"driver": "mlx4_core", "ofed_version": "4.9-7.1", "facts": {"kernel": "5.15.0-1"}}),
    ("ofed", {**DOCA, "ofed_version": "3.0"}),
    ("dcqcn", {"dcqcn_parameters": {"../../x": 1}}),
    ("dcqcn", {"facts": UNKNOWN_DCQCN, "dcqcn_state": "enabled"}),
    ("dcqcn", {"facts": UNKNOWN_DCQCN, "dcqcn_state": "disabled"}),
    ("roce", {"facts": {"interfaces": {"eth1": {"card": None}}}}),
    ("ofed", {**DOCA, "facts": {"kernel": "6.1-headers-absent"}}),
    ("ofed", {**DOCA, "facts": {"interfaces": {"eth1": {"card": None}}}}),
    ("packages", {"wanted": ["absent"]}),
    ("packages", {"wanted": ["absent"], "facts": RHEL}),
    ("packages", {"wanted": ["a b"]}),
    ("kernel_modules", {"rdma_kernel_modules": ["absent"]}),
    ("kernel_modules", {"rdma_kernel_modules": ["loaded"]}),
    ("card_priorities", {"card_priorities_trust": "both"}),
]
"""Roles with variables that would become another option, line, file or program, or that cannot work."""
HOSTS = NODES | {
    f"refused_{role}_{[each for each, _ in REFUSED[:number]].count(role)}": {
        **CARD,
        "only": role,
        **variables,
    }
    for number, (role, variables) in enumerate(REFUSED)
}


@pytest.fixture(autouse=True)
def signals_restored() -> Iterator[None]:
    """Undo ansible-runner's signal handlers, which would take Ctrl-C from later tests of this process."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_roles_set_the_golden_values(tmp_path: Path) -> None:
    """After an intended change of a role: UPDATE_GOLDEN=1 writes the file anew; review the difference."""
    found = play(tmp_path, HOSTS, shipped_roles())
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.write_text(_TITLE + yaml.safe_dump(found, sort_keys=False, width=110, allow_unicode=True))
    golden = yaml.safe_load(GOLDEN.read_text())
    for role, steps in found.items():
        for host in HOSTS:
            assert (role, host, steps.get(host)) == (role, host, golden[role].get(host))
