import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.rogue.testbed.plugins.filter.port_trees import port_trees

from harness.provisioning.ports import PortSettings, port_lines

PORTS = [
    {"bridge": "s0", "interface": "eth1", "peer": "h0"},
    {"bridge": "s0", "interface": "eth2", "peer": "h1"},
]


def test_every_port_has_its_lines_and_special_settings_win() -> None:
    trees = port_trees(
        PORTS, {"rate_bps": 10_000_000, "queue_bytes": 9_000}, {"s0->h1": {"rate_bps": 5_000_000}}
    )
    assert trees == {
        "eth1": port_lines("eth1", PortSettings(rate_bps=10_000_000, queue_bytes=9_000)),
        "eth2": port_lines("eth2", PortSettings(rate_bps=5_000_000, queue_bytes=9_000)),
    }


def test_a_port_without_settings_is_there_without_lines_so_that_it_is_written_down() -> None:
    assert port_trees(PORTS, {}, {}) == {"eth1": [], "eth2": []}


@pytest.mark.parametrize(
    ("every", "special", "message"),
    [
        ({}, {"s0->h7": {}}, "got s0->h7, expected names of ports: s0->h0, s0->h1"),
        ({"speed": 1}, {}, "port s0->h0: .*'speed'"),
        ({}, {"s0->h1": {"queue_bytes": 0}}, "port s0->h1: queue_bytes: got 0"),
    ],
)
def test_a_mistake_names_the_port(
    every: dict[str, object], special: dict[str, dict[str, object]], message: str
) -> None:
    with pytest.raises(AnsibleFilterError, match=message):
        port_trees(PORTS, every, special)
