"""Tests: measure between hosts whether RoCE packets arrive marked and in which priority they leave."""

import re
from dataclasses import replace
from typing import Any

import pytest
from helpers.fake_switch import LOSSLESS
from helpers.nodes import host_facts, rack_of

from rogue.harness.provisioning import card_marks
from rogue.harness.provisioning.card_marks import measure_roce_marks, priorities_of_levels, sent_packets
from rogue.harness.provisioning.findings import Finding
from rogue.harness.provisioning.inventory import Inventory
from rogue.harness.provisioning.rdma_transfers import End
from rogue.remote.errors import NodeError

PORT = {"device": "mlx5_0", "port": 1, "gid_index": 3, "netdev": "enp1s0", "rate_bps": 10**10}


class Card:
    """Puts packets of each service level into a priority; the kernel sends some of its own in priority 0."""

    def __init__(self, priorities: dict[int, int], words: str = "tx_prio{}_packets") -> None:
        self._priorities, self._words = priorities, words
        self.sent = dict.fromkeys(range(8), 100)
        self.served: list[str] = []
        self.fails = False

    def run(self, command: str, text: str = "", *, limit_s: float = 0.0) -> str:
        if "ethtool" in command:
            return "".join(f"     {self._words.format(at)}: {count}\n" for at, count in self.sent.items())
        if self.fails:
            raise NodeError("h0: `ib_write_bw` to h1 failed")
        found = re.search(r" -S (\d)", command)
        self.sent[0] += 3
        level = int(found[1]) if found else 0
        if level in self._priorities:
            self.sent[self._priorities[level]] += 50
        return ""

    def open_session(self, command: str, *, limit_s: float = 0.0) -> "Card":
        self.served.append(command)
        return self

    def close(self) -> None: ...


def asked(card: Any) -> dict[str, object]:
    ends = [End(host, PORT) for host in rack_of("declared").hosts[:2]]
    return priorities_of_levels({end.name: card for end in ends}, *ends)


@pytest.mark.parametrize("words", ["tx_prio{}_packets", "tx_prio_{}_packets"], ids=["mlx5", "mlx4"])
def test_each_level_has_the_priority_that_counts_its_packets(words: str) -> None:
    apart = {level: level for level in range(8)}
    assert asked(Card(apart, words)) == {"priorities": list(range(8))}
    assert asked(Card(dict.fromkeys(range(8), 3), words)) == {"priorities": [3] * 8}


def test_both_ends_are_told_the_level() -> None:
    card = Card({})
    asked(card)
    assert [command[-5:] for command in card.served] == [f" -S {level}" for level in range(8)]


def test_without_counters_nobody_knows() -> None:
    assert asked(Card({}, "tx_packets_{}")) == {"priorities": [None] * 8}


def test_a_transfer_that_fails_is_the_reason() -> None:
    card = Card({})
    card.fails = True
    assert asked(card) == {"reason": "h0: `ib_write_bw` to h1 failed"}


def test_an_interface_is_named_to_a_shell_as_one_word() -> None:
    class Shell:
        def run(self, command: str) -> str:
            assert command.endswith("ethtool -S 'a b'")
            return "     tx_prio3_packets: 7\n     rx_prio3_packets: 9\n"

    assert sent_packets(Shell(), "a b") == {3: 7}  # type: ignore[arg-type]


ROW = " 65536      35100            0.00               {gbps}               0.017550\n"
COUNTER = "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/np_ecn_marked_roce_packets"
CLIENT = "ib_write_bw -d mlx5_0 -i 1 -x 3"


class Cards:
    """Hosts at 10 Gb/s on one switch; what arrives while two send is counted as this says."""

    def __init__(self, marked: int | str = 7, gbps: str = "4.7") -> None:
        self.marked, self.gbps = marked, gbps
        self.counts: dict[str, int] = {}
        self.sent: list[str] = []

    def shells(self, inventory: Inventory) -> dict[str, Any]:
        return {host.name: _Shell(self, host.name) for host in inventory.hosts}


class _Shell:
    def __init__(self, cards: Cards, node: str) -> None:
        self._cards, self._node = cards, node

    def run(self, command: str, text: str = "", *, limit_s: float = 0.0) -> str:
        if "hw_counters" in command:
            assert command == f"cat {COUNTER} 2>/dev/null || echo none"
            if isinstance(self._cards.marked, str):
                return self._cards.marked
            self._cards.counts[self._node] = self._cards.counts.get(self._node, -1) + 1
            return f"{self._cards.counts[self._node] * self._cards.marked}\n"
        self._cards.sent.append(f"{self._node}: {command}")
        if self._cards.gbps == "nothing":
            raise NodeError(f"{self._node}: `ib_write_bw` failed: no route")
        return ROW.format(gbps=self._cards.gbps)

    def open_session(self, command: str, *, limit_s: float = 0.0) -> "_Shell":
        return self

    def close(self) -> None: ...


def measured(cards: Cards, dcqcn: str = "on", mtu: int | None = None, **variables: Any) -> list[Finding]:
    inventory = rack_of("declared", **{"switch_priorities": LOSSLESS, **variables})
    if mtu is not None:
        hosts = [
            replace(each, variables=each.variables.model_copy(update={"experiment_mtu": mtu}))
            for each in inventory.hosts
        ]
        inventory = replace(inventory, hosts=tuple(hosts))
    facts = {}
    for host in inventory.hosts:
        own = host_facts(str(host.variables.experiment_address), "h0")
        own["rdma_ports"][0].update(device="mlx5_0", gid_index=3, hca_type="MT4119", rate_bps=10**10)
        own["interfaces"]["eth1"]["card"] = {"dcqcn": {"state": dcqcn}}
        facts[host.name] = own
    return measure_roce_marks(inventory, facts, cards.shells(inventory))


def test_two_cards_send_what_an_agent_sends_to_each_and_marks_prove_it() -> None:
    """DSCP 26 and ECT(0) are a traffic class of 106; each server has a TCP port of its own."""
    cards = Cards()
    assert measured(cards) == []
    assert sorted(each[:2] for each in cards.sent) == ["h0"] * 3 + ["h1"] * 3 + ["h2"] * 2
    assert all("--tclass=106" in each for each in cards.sent)
    assert sorted(each.split("-p ")[1].split()[0] for each in cards.sent[:2]) == ["18515", "18516"]


def test_a_full_port_without_marks_refuses() -> None:
    found = measured(Cards(marked=0))
    assert [each.node for each in found] == ["h0", "h1", "h2", "h3"]
    assert found[0].refuses
    assert found[0].got == "none, at 9.4 Gb/s from two hosts"


def test_small_packets_fill_a_port_with_less() -> None:
    """At an MTU of 1000 packets carry 512 bytes, and 8.36 Gb/s of 10 are a full port."""
    assert [each.refuses for each in measured(Cards(marked=0, gbps="4.2"), mtu=1000)] == [True] * 4
    assert not any(each.refuses for each in measured(Cards(marked=0, gbps="4.1"), mtu=1000))


@pytest.mark.parametrize(
    ("cards", "dcqcn", "told"),
    [
        (Cards(marked="none\n"), "on", "no counter of them"),
        (Cards(marked=0, gbps="4.4"), "on", "none, at 8.8 Gb/s from two hosts"),
        (Cards(marked=0), "off", "none, at 9.4 Gb/s from two hosts"),
    ],
    ids=["mlx4 counts none", "the port was not full", "with DCQCN off nobody may count"],
)
def test_what_proves_nothing_warns(cards: Cards, dcqcn: str, told: str) -> None:
    found = measured(cards, dcqcn)
    assert {(each.got, each.refuses) for each in found} == {(told, False)}


def test_a_transfer_that_fails_and_a_counter_that_is_no_number_are_sentences() -> None:
    assert measured(Cards(gbps="nothing"))[0].got.endswith("`ib_write_bw` failed: no route")
    assert measured(Cards(marked="many"))[0].got == f"h0: got `many` in {COUNTER}, expected a number"


def test_a_perftest_that_cannot_talk_over_ipv6_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_old(*_arguments: object, **_options: object) -> str:
        raise NodeError("h1: `ib_write_bw` failed: ib_write_bw: unrecognized option '--ipv6-addr'")

    monkeypatch.setattr(card_marks, "transferred", too_old)
    found = measured(Cards())
    assert [(each.node, each.refuses) for each in found] == [(f"h{n}", False) for n in range(4)]
    assert found[0].got == "a perftest without --ipv6-addr"


def test_where_no_marks_are_said_nothing_is_sent() -> None:
    cards = Cards()
    assert (measured(cards, switch_priorities={"3": {"dscp": [26]}}), cards.sent) == ([], [])
