from pathlib import Path

import pytest
from ansible_collections.rogue.testbed.plugins.module_utils.ledger import LEDGER, Entry, Ledger
from ansible_collections.rogue.testbed.plugins.module_utils.system import StateError
from helpers.fake_node import FakeNode

ENTRY = Entry("role", "mtu", "eth1", 4300, 1500, 4300)


def test_entries_are_read_back_in_order(tmp_path: Path) -> None:
    node = FakeNode(tmp_path)
    second = Entry("role", "mtu", "eth0", 9000, 1500)
    for entry in (ENTRY, second):
        Ledger(node).write(entry)
    assert Ledger(node).entries == [ENTRY, second]
    assert Ledger(node).find("mtu", "eth0") == second
    assert Ledger(node).find("mtu", "eth2") is None


def test_without_entries_nothing_of_it_is_left(tmp_path: Path) -> None:
    node = FakeNode(tmp_path)
    ledger = Ledger(node)
    ledger.write(ENTRY)
    ledger.remove(ENTRY)
    assert not node.path(LEDGER).parent.exists()


@pytest.mark.parametrize("text", ["", "[]", '{"version": 2}', '{"version": 2, "changes": [{"kind": "mtu"}]}'])
def test_a_damaged_file_is_refused(tmp_path: Path, text: str) -> None:
    node = FakeNode(tmp_path)
    node.write(LEDGER, text)
    with pytest.raises(StateError, match="is damaged"):
        Ledger(node)


def test_a_file_of_another_version_is_refused(tmp_path: Path) -> None:
    node = FakeNode(tmp_path)
    node.write(LEDGER, '{"version": 1, "changes": []}')
    with pytest.raises(StateError, match="got version 1, expected 2; tear down with the rogue"):
        Ledger(node)
