"""Tests: RDMA between two hosts: rates, priorities, and anonymised reports of their cards."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from ipaddress import IPv6Address
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from helpers.nodes import host_facts, rack_of, write_inventory

from rogue.harness.errors import UsageError
from rogue.harness.provisioning.inventory import Inventory, load_inventory
from rogue.harness.provisioning.rdma_transfers import (
    LIMIT_S,
    End,
    card_command,
    collect_cards,
    least_share,
    measure_transfers,
    names_in,
    payload_bytes,
    priorities_of_levels,
    rounds,
    scrubbing,
)
from rogue.remote.errors import NodeError, RejectedError
from rogue.remote.login import Login


@pytest.mark.parametrize(
    ("ip_mtu_bytes", "expected_bytes"),
    [
        (1500, 1024),
        (1119, 512),
        (2143, 1024),
        (2144, 2048),
        (4191, 2048),
        (4192, 4096),
        (9000, 4096),
        (600, 256),
    ],
)
def test_payload_by_mtu(ip_mtu_bytes: int, expected_bytes: int) -> None:
    """1500 - 96 = 1404, into which 1024 fit; 2144 - 96 = 2048."""
    assert payload_bytes(ip_mtu_bytes) == expected_bytes


FACTS = {"h0": host_facts("10.9.0.10", "h1"), "h1": host_facts("10.9.0.11", "h0")}
TABLE = """\
---------------------------------------------------------------------------------------
 #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
 65536      35100            0.00               {gbps}               0.017550
---------------------------------------------------------------------------------------
"""


@pytest.fixture(scope="module")
def inventory(tmp_path_factory: pytest.TempPathFactory) -> Inventory:
    return load_inventory(write_inventory(tmp_path_factory.mktemp("nodes"), ("soft_roce}", "card}")))


Reply = Callable[[str], str]


def always(said: str | NodeError) -> Reply:
    """Reply the same to every command, or fail."""

    def reply(_command: str) -> str:
        if isinstance(said, NodeError):
            raise said
        return said

    return reply


class FakeConnection:
    """A host; `commands` records the commands of every host, in order."""

    def __init__(self, node: str, reply: Reply, commands: list[str]) -> None:
        self.node, self._reply, self._commands = node, reply, commands

    def open_session(self, command: str, *, limit_s: float = 0.0) -> "FakeConnection":
        self._commands.append(f"{self.node} serves: {command}")
        return self

    def run(self, command: str, text: str = "", *, limit_s: float = 0.0) -> str:
        assert limit_s > LIMIT_S or not command.startswith("timeout")
        self._commands.append(f"{self.node} runs: {command}")
        return self._reply(command)

    def close(self) -> None:
        self._commands.append(f"{self.node} ends")


def measured(
    inventory: Inventory, said: str | NodeError, rate_bps: int = 10**10
) -> tuple[list[str], list[str]]:
    commands: list[str] = []
    shells: Any = {name: FakeConnection(name, always(said), commands) for name in FACTS}
    for host in FACTS.values():
        host["rdma_ports"][0].update(device="mlx5_0", gid_index=3, hca_type="MT4117", rate_bps=rate_bps)
    return [str(each) for each in measure_transfers(inventory, FACTS, shells)], commands


def test_transfer_at_line_rate_has_no_finding(inventory: Inventory) -> None:
    findings, commands = measured(inventory, TABLE.format(gbps="9.21"))
    assert findings == []
    common = "ib_write_bw -d mlx5_0 -i 1 -x 3 -m 4096 -D 2 -F --report_gbits -p 18515 --tclass=104"
    assert commands[0] == f"h1 serves: timeout 60 {common}"
    assert commands[1].startswith("h0 runs: timeout 60 sh -c 'for try in 0 1 2 3 4; do ")
    assert f"{common} 10.9.0.11 && exit 0" in commands[1]
    assert commands[2] == "h1 ends"


def test_ipv6_needs_an_option_of_perftest(inventory: Inventory) -> None:
    hosts = [
        replace(each, variables=each.variables.model_copy(update={"experiment_address": address}))
        for each, address in zip(inventory.hosts, map(IPv6Address, ("fd00::10", "fd00::11")), strict=True)
    ]
    over_ipv6 = replace(inventory, hosts=tuple(hosts))
    findings, commands = measured(over_ipv6, TABLE.format(gbps="9.21"))
    assert findings == []
    assert commands[0].endswith(" --tclass=104 --ipv6-addr")
    assert " --ipv6-addr fd00::11 && exit 0" in commands[1]
    (finding,), _ = measured(over_ipv6, NodeError("ib_write_bw: unrecognized option '--ipv6-addr'"))
    assert finding.startswith("warning: h0: transfer to h1 over the experiment network: got a perftest with")
    (finding,), _ = measured(over_ipv6, NodeError("`ib_write_bw --ipv6-addr fd00::11` ended with 1"))
    assert finding.startswith("refused: h0: transfer to h1")


def test_slow_transfer_is_refused(inventory: Inventory) -> None:
    for gbps, is_refused in (("8.99", True), ("9.00", False)):
        findings, _ = measured(inventory, TABLE.format(gbps=gbps))
        assert bool(findings) is is_refused
    (finding,), _ = measured(inventory, TABLE.format(gbps="9.21"), 25 * 10**9)
    assert finding.startswith(
        "refused: h0: transfer to h1 over the experiment network: got 9.21 Gb/s, expected 22.5 Gb/s at least"
    )


@pytest.mark.parametrize(
    ("payload", "version", "share"),
    [
        (4096, 4, 0.9), (2048, 4, 0.9), (1024, 4, 0.8981), (512, 4, 0.8361), (256, 4, 0.7347),
        (4096, 6, 0.9), (1024, 6, 0.8821), (512, 6, 0.8089),
    ],
)  # fmt: skip
def test_least_share_by_payload(payload: int, version: int, share: float) -> None:
    """Of 594 bytes on the wire 512 are payload: 0.97 * 512 / 594 = 0.8361. IPv6 has 614 bytes."""
    assert least_share(payload, version) == pytest.approx(share, abs=0.0001)


def test_fast_links_use_four_queue_pairs(tmp_path: Path) -> None:
    """At MTU 1500 packets carry 1024 bytes; both ends get the option for four queue pairs."""
    small = load_inventory(write_inventory(tmp_path, ("soft_roce}", "card}"), ("4300", "1500")))
    findings, commands = measured(small, TABLE.format(gbps="89.9"), 100 * 10**9)
    assert findings == []
    assert all(" -m 1024 " in line and line.count(" -q 4") == 1 for line in commands[:2])
    _, commands = measured(small, TABLE.format(gbps="23.0"), 25 * 10**9)
    assert not any(" -q " in line for line in commands)


def test_failed_transfer_is_a_finding(inventory: Inventory) -> None:
    (finding,), commands = measured(inventory, NodeError("h0: `timeout 60` failed: Couldn't connect"))
    assert "got h0: `timeout 60` failed: Couldn't connect, expected a WRITE over RoCE that arrives" in finding
    assert commands[-1] == "h1 ends", "the server does not stay"
    (finding,), _ = measured(inventory, "strange words")
    assert "got no result of ib_write_bw" in finding


@pytest.mark.parametrize("hosts", [0, 1, 2, 5, 8])
def test_rounds_cover_every_pair_once(inventory: Inventory, hosts: int) -> None:
    ends = [End(inventory.hosts[0], {"number": number}) for number in range(hosts)]
    of_rounds = [[(a.port["number"], b.port["number"]) for a, b in pairs] for pairs in rounds(ends)]
    for pairs in of_rounds:
        busy = [host for pair in pairs for host in pair]
        assert len(busy) == len(set(busy))
    done = sorted(tuple(sorted(pair)) for pairs in of_rounds for pair in pairs)
    assert done == sorted(combinations(range(hosts), 2))
    assert len(of_rounds) <= max(0, hosts)


WHERE = {"device": "mlx5_0", "port": 1, "gid_index": 3, "netdev": "enp1s0"}


def counting(priorities: dict[int, int], words: str) -> Reply:
    """Count packets of each service level in a priority; the kernel sends others in priority 0."""
    sent = dict.fromkeys(range(8), 100)

    def reply(command: str) -> str:
        if "ethtool" in command:
            return "".join(f"     {words.format(at)}: {count}\n" for at, count in sent.items())
        found = re.search(r" -S (\d)", command)
        sent[0] += 3
        sent[priorities[int(found[1]) if found else 0]] += 50
        return ""

    return reply


def priorities(reply: Reply) -> dict[str, object]:
    ends = [End(host, {**WHERE, "rate_bps": 10**10}) for host in rack_of("declared").hosts[:2]]
    shells: Any = {end.name: FakeConnection(end.name, reply, []) for end in ends}
    return priorities_of_levels(shells, *ends)


@pytest.mark.parametrize("words", ["tx_prio{}_packets", "tx_prio_{}_packets"], ids=["mlx5", "mlx4"])
def test_priorities_by_service_level(words: str) -> None:
    apart = {level: level for level in range(8)}
    assert priorities(counting(apart, words)) == {"priorities": list(range(8))}
    assert priorities(counting(dict.fromkeys(range(8), 3), words)) == {"priorities": [3] * 8}


def test_failed_transfer_is_the_reason() -> None:
    failed = NodeError("h0: `ib_write_bw` to h1 failed")
    assert priorities(always(failed)) == {"reason": "h0: `ib_write_bw` to h1 failed"}


def collected(rack: Inventory, reply: Reply) -> tuple[str, list[str]]:
    """Return the report about two cards and the commands."""
    commands: list[str] = []

    @contextmanager
    def opened(login: Login) -> Iterator[Any]:
        yield FakeConnection(login.node, reply, commands)

    return collect_cards(rack, opened), commands


def test_card_report_has_no_names() -> None:
    rack, said = rack_of("declared"), {"card": {"schema": 1, "hca_type": "MT4119"}, "where": WHERE}

    def reply(command: str) -> str:
        if "ethtool" in command:
            raise NodeError("h0: `ethtool` failed: not found")
        return " 65536 1000 0.00 23.1 0.04\n" if "ib_write_bw" in command else json.dumps(said)

    text, commands = collected(rack, reply)
    assert commands[:2] == [f"{host.name} runs: {card_command(host)}" for host in rack.hosts[:2]]
    assert not [word for word in ("enp1s0", "h0", "10.9.", "mlx5_0") if word in text]
    bundle = json.loads(text)
    assert bundle["cards"] == [said["card"], said["card"]]
    assert bundle["service_levels"] == {"reason": "card 0: `ethtool` failed: not found"}
    assert bundle["uc_transfer"] == {"gbps": 23.1}
    (over_uc,) = [command for command in commands if " -c UC" in command and "for try" in command]
    assert "--tclass=" in over_uc


def test_errors_in_a_card_report_have_no_names() -> None:
    refused = "dcb: enp1s0: the driver refuses this rate: Operation not supported"
    card = {"hca_type": "MT4119", "rates": {"reason": refused}}

    def reply(command: str) -> str:
        if "ib_write_bw" not in command:
            return "" if "ethtool" in command else json.dumps({"card": card, "where": WHERE})
        words = "mlx5_0: no path for alice from fe80::1%enp1s0 to node-1.lab.org"
        raise RejectedError(f"h0: `{command}` failed (exit code 1): {words}")

    rack = rack_of("declared")
    login = replace(rack.hosts[1].login, user="alice", address="node-1.lab.org")
    rack = replace(rack, hosts=(rack.hosts[0], replace(rack.hosts[1], login=login)))
    text, _ = collected(rack, reply)
    bundle = json.loads(text)
    assert bundle["cards"][0]["rates"]["reason"] == refused.replace("enp1s0", "<name>")
    for part in ("uc_transfer", "service_levels"):
        reason = bundle[part]["reason"]
        assert reason.startswith("card 0: `timeout 60 sh -c ")
        assert reason.endswith(" (exit code 1): <name>: no path for <name> from <address> to <name>")
    names = ("enp1s0", "h0", "h1", "10.9.", "mlx5_0", "alice", "lab.org", "fe80")
    assert not [name for name in names if name in text]
    assert str(rack.hosts[1].variables.experiment_address) not in text


@pytest.mark.parametrize(
    ("reply", "got"),
    [
        ("usage: \n", "usage:"),
        ("[1]", "[1]"),
        ('{"card": {}, "where": {"device": "mlx5_0"}}', '{"card": {}, "where": {"device": "mlx5_0"}}'),
        ('{"card": 1, "where": {}}', '{"card": 1, "where": {}}'),
    ],
)
def test_agent_without_card_report_is_an_error(reply: str, got: str) -> None:
    expected = "expected a report about its card, in JSON; provision it again."
    with pytest.raises(NodeError) as refused:
        collected(rack_of("declared"), always(reply))
    assert str(refused.value) == f"h0: got `{got}` from the agent, {expected}"


def test_one_card_is_an_error() -> None:
    rack = rack_of("declared")
    with pytest.raises(UsageError, match="got 1 hosts with cards, expected two"):
        collected(replace(rack, hosts=rack.hosts[:1]), always("{}"))


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("no route to 10.9.0.2.", "no route to <address>."),
        ("connect 10.9.0.2:18515: refused", "connect <address>:18515: refused"),
        ("from fe80::1%enp1s0 to [2001:db8::7]:18515", "from <address> to [<address>]:18515"),
        ("::ffff:10.9.0.2", "<address>"),
        ("link 0c:42:a1:03:00:ff, or 0C-42-A1-03-00-FF", "link <address>, or <address>"),
        ("GID: 00:00:00:00:00:00:00:00:00:00:255:255:10:09:00:02", "GID: <address>"),
        ("0000:3b:00.0: gone", "<address>: gone"),
        ("/home/alice/.bashrc: denied", "/home/<name>/.bashrc: denied"),
    ],
)
def test_addresses_are_scrubbed(said: str, kept: str) -> None:
    assert scrubbing({})(said) == kept


@pytest.mark.parametrize(
    "said",
    [
        "16.35.2000",
        "8.0 GT/s PCIe x8",
        "mlx5_core",
        "ROCE_CC_PRIO_MASK_P1 255",
        "ibv_create_qp: Errno: 95, Operation not supported",
        "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
    ],
)
def test_other_text_is_not_scrubbed(said: str) -> None:
    assert scrubbing({"root": "<name>", "mlx5_0": "<name>"})(said) == said


def test_names_are_whole_words_longest_first() -> None:
    scrub = scrubbing({"h1": "card 1", "h1.lab": "<name>", "": "never"})
    assert scrub("h1 H1.lab h10 ah1 (h1)") == "card 1 <name> h10 ah1 (card 1)"


def test_names_in_an_inventory() -> None:
    rack = rack_of("declared")
    bastion = replace(rack.hosts[0].login, node="way", name="bastion", user="bob", address="gw.lab.org")
    login = replace(rack.hosts[0].login, address="node-7.lab.org", user="alice", gateway=bastion)
    names = names_in(replace(rack, hosts=(replace(rack.hosts[0], login=login),)))
    assert {"h0", "node-7.lab.org", "node-7", "alice", "bastion", "bob", "gw.lab.org", "gw", "tor"} <= names
    direct = replace(login, address="192.0.2.7", gateway=None)
    assert "192" not in names_in(replace(rack, hosts=(replace(rack.hosts[0], login=direct),)))
