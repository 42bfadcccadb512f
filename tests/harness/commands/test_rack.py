"""A rack on its first day, from its inventory to nodes that can measure: every command, as it is typed."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.first_rack import HOSTS, FirstRack, first_rack

from rogue.harness.cli import app, run_guarded

pytestmark = pytest.mark.needs("sshd")
Capture = pytest.CaptureFixture[str]
ALL = ", ".join(HOSTS)


@pytest.fixture
def rack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FirstRack]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with first_rack(tmp_path, monkeypatch) as found:
        yield found


class Person:
    """Types commands, and reads what is said to them: sentences, and never a traceback."""

    def __init__(self, rack: FirstRack, capture: Capture) -> None:
        self._rack, self._capture = rack, capture

    def types(self, words: str, code: int = 0) -> list[str]:
        """The lines of what is said, on standard output or, if the command is refused, of both."""
        arguments = words.replace("nodes.yaml", str(self._rack.inventory)).split()
        ended = run_guarded(lambda: app(arguments, prog_name="rogue", standalone_mode=False))
        out, err = self._capture.readouterr()
        assert "Traceback" not in err, err
        assert int(ended) == code, f"{words}: {out}{err}"
        return [line.removeprefix("rogue: ") for line in f"{out}{err if code else ''}".splitlines()]


def test_from_an_inventory_to_nodes_that_can_measure(rack: FirstRack, capsys: Capture) -> None:
    person = Person(rack, capsys)
    _reads_what_is_wrong_in_the_inventory(person, rack)
    _learns_the_keys(person, rack)
    _sets_the_switches(person, rack)
    _provisions_and_measures(person, rack)
    _puts_the_switches_back(person, rack)
    assert rack.turned_away() == 0, "the bastion has taken everybody"


def _reads_what_is_wrong_in_the_inventory(person: Person, rack: FirstRack) -> None:
    """A bond for all hosts is one mistake, though it is twelve hosts'."""
    right = rack.inventory.read_text()
    rack.inventory.write_text(right.replace("experiment_interface: eth1", "experiment_interface: bond0"))
    (told,) = person.types("inventory check nodes.yaml", 2)
    assert told.startswith(f"{rack.inventory}: experiment_interface of {ALL}: got bond0, a bond or a team, ")
    rack.inventory.write_text(right)
    listed = person.types("inventory check nodes.yaml")
    assert [line.split()[0] for line in listed[1:15]] == [*HOSTS, "leaf0", "leaf1"]


def _learns_the_keys(person: Person, rack: FirstRack) -> None:
    """Nobody has written any key down: the bastion's comes first, and then one command for all behind it."""
    first = person.types("provision nodes.yaml --check", 7)
    assert first[0] == "provision: failed on 12 nodes"
    assert first[1].startswith(f"  {ALL}: before anything: ")
    rack.know_only_the_gate()
    second = person.types("provision nodes.yaml --check", 7)
    assert len(second) == 2, "one sentence for twelve nodes"
    assert "`ssh bastion ssh-keyscan -p " in second[1]
    both = person.types("switch check nodes.yaml", 7)
    assert [line.split(":")[0] for line in both] == ["leaf0", "leaf1"], "refusals are listed together"
    rack.know_all()


def _sets_the_switches(person: Person, rack: FirstRack) -> None:
    """The older leaf takes no new profile in a patch; the newer one is planned and set all the same."""
    planned = person.types("switch plan nodes.yaml", 7)
    assert planned[0] == "leaf1 (sonic) would be told:"
    assert planned[-1].startswith(
        "leaf0: got changes of WRED_PROFILE for release 202311, whose updater refuses "
    )
    assert "`sudo config load -y FILE`" in planned[-1]
    assert rack.leaves["leaf1"].patches == []
    rack.configure_by_hand()
    told = person.types("switch apply nodes.yaml")
    assert [line for line in told if line.startswith("leaf")] == [
        "leaf0 (sonic) was told:", "leaf1 (sonic) was told:",
    ]  # fmt: skip
    assert [line.split(":")[0] for line in person.types("switch check nodes.yaml")] == [
        "leaf0 (sonic) is as wanted", "leaf1 (sonic) is as wanted",
    ]  # fmt: skip


def _provisions_and_measures(person: Person, rack: FirstRack) -> None:
    """The doctor refuses bare nodes, with a sentence for each thing and not for each node."""
    assert person.types("provision nodes.yaml --check") == [
        "would be changed: 12, on 12 of 12 nodes",
        f"  {ALL}: mtu eth1: 4200",
        "leaf0 (sonic) is as wanted; nothing to tell",
        "leaf1 (sonic) is as wanted; nothing to tell",
    ]
    examined = person.types("doctor nodes.yaml", 7)
    assert [line.split()[0] for line in examined[1:13]] == list(HOSTS)
    refused = [line for line in examined if line.startswith("refused: ")]
    assert all(line.startswith(f"refused: {ALL}: ") for line in refused)
    assert f"refused: {ALL}: state: got a node that is not provisioned, " in "\n".join(refused)
    rack.provision()
    examined = person.types("doctor nodes.yaml")
    assert examined[-1] == "12 nodes can measure"
    assert (
        "warning: hosts: card: got ConnectX-5, 100 Gb/s on h0, h1, h2, h3; ConnectX-6 Dx, 100 Gb/s on h4, "
        "h5, h6, h7; BlueField-2, 100 Gb/s on h8, h9, h10, h11, expected the same everywhere; install the "
        "same on all, or take the difference into account."
    ) in examined


def _puts_the_switches_back(person: Person, rack: FirstRack) -> None:
    before = FirstRack.tables_of_nobody()
    undone = person.types("switch undo nodes.yaml")
    assert sum(line.endswith("was told:") for line in undone) == 2
    assert rack.leaves["leaf1"].tables == before
    assert rack.leaves["leaf0"].tables == {**before, "WRED_PROFILE": rack.by_hand}
    missing = person.types("switch check nodes.yaml", 7)
    assert len(missing) < 20, "places alike are one sentence"
    assert "leaf1: QUEUE: Ethernet0|3, Ethernet4|3, " in "\n".join(missing)
