"""Service levels on the wire, by stand-ins for perftest and for the counters of a card."""

import re
from typing import Any

import pytest
from helpers.rack_inventory import rack_of

from rogue.harness.provisioning.card_marks import priorities_of_levels, sent_packets
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
