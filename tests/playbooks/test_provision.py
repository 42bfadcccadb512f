"""Test: roles for cards, soft-RoCE and TCP, played by Ansible in check mode, request the golden values."""

import os
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ansible_runner
import pytest
import yaml
from ansible_collections.rogue.testbed.plugins.modules.node_facts import examine
from helpers.fake_card import FakeCardNode

PLAYBOOKS = Path(__file__).parents[2] / "playbooks"
GOLDEN = Path(__file__).with_name("provisioned.yaml")
ROLES = {"soft_roce", "priorities", "roce", "card_priorities", "dcqcn", "tuning", "tcp"}
NODE_IN_MEMORY = """

import sys, tempfile
sys.path.insert(0, {tests!r})
from helpers.fake_card import FakeCardNode
System = lambda: FakeCardNode(Path(tempfile.mkdtemp(dir={directory!r})), has_ofed=True)
"""
"""Replaces the node at the end of the collection's `system.py`."""
QUESTIONS = {
    "tools": [], "interfaces": ["eth0", "eth1"], "mac": "", "address": "", "peers": {}, "packet_bytes": 1500,
    "files": [],
}  # fmt: skip
CARD = {
    "rdma_device_kind": "card",
    "experiment_interface": "eth1",
    "experiment_dscp": 30,
    "card_priorities_trust": "dscp",
    "card_priorities_paused": [3],
    "dcqcn_state": "disabled",
    "dcqcn_parameters": {"rp_ai_rate": 20},
}
SOFT_ROCE = {"rdma_device_kind": "soft_roce", "experiment_interface": "eth0"}


@pytest.fixture(autouse=True)
def signals_restored() -> Iterator[None]:
    """Undo ansible-runner's signal handlers, which would take Ctrl-C from later tests of this process."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_roles_would_set_the_golden_values(tmp_path: Path) -> None:
    """After an intended change of a role, change the golden file as well."""
    shutil.copytree(PLAYBOOKS, tmp_path / "project")
    (system,) = (tmp_path / "project").rglob("system.py")
    words = NODE_IN_MEMORY.format(tests=str(PLAYBOOKS.parent / "tests"), directory=str(tmp_path))
    system.write_text(system.read_text() + words)
    play = yaml.safe_load((PLAYBOOKS / "provision.yml").read_text())[1]
    play["roles"] = [each for each in play["roles"] if each["role"] in ROLES]
    (tmp_path / "project/roles.yml").write_text(yaml.safe_dump([play]))
    (tmp_path / "data").mkdir()
    common = {
        "ansible_connection": "local",
        "ansible_user": "root",
        "ansible_python_interpreter": sys.executable,
        "experiment_mtu": 4200,
        "node": {"facts": examine(FakeCardNode(tmp_path / "node", has_ofed=True), QUESTIONS)},
    }
    hosts = {"h0": CARD, "h1": SOFT_ROCE}
    found: dict[str, dict[str, Any]] = {host: {} for host in hosts}

    def on_event(event: dict[str, Any]) -> bool:
        data = event["event_data"]
        diff = data.get("res", {}).get("diff", [])
        for each in [diff] if isinstance(diff, dict) else diff:
            after = each.get("after")
            found[data["host"]] |= after if "after_header" not in each else {each["after_header"]: after}
        return False

    done = ansible_runner.run(
        private_data_dir=str(tmp_path / "data"),
        project_dir=str(tmp_path / "project"),
        playbook="roles.yml",
        inventory={"all": {"vars": common, "children": {"hosts": {"hosts": hosts}}}},
        envvars={"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        cmdline="--check --diff",
        event_handler=on_event,
        quiet=True,
    )
    assert done.rc == 0, done.stdout.read()
    golden = yaml.safe_load(GOLDEN.read_text())
    assert found["h0"] == golden["h0"]
    assert found["h1"] == golden["h1"]
