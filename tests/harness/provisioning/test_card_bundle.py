"""Tests: collect what the cards of two hosts report, anonymised, in one file."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from helpers.nodes import rack_of

from rogue.harness.errors import UsageError
from rogue.harness.provisioning.card_bundle import (
    card_command,
    collect_cards,
    names_in,
    scrubbed,
    scrubbing,
)
from rogue.remote.errors import NodeError, RejectedError
from rogue.remote.login import Login


class Said:
    """Hosts whose agents say this."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.asked: list[str] = []

    @contextmanager
    def opened(self, login: Login) -> Iterator[Any]:
        self.asked.append(login.node)
        yield self

    def run(self, command: str, *, limit_s: float = 0.0) -> str:
        self.asked.append(command)
        if "ethtool" in command:
            raise NodeError("h0: `ethtool` failed: not found")
        return " 65536 1000 0.00 23.1 0.04\n" if "ib_write_bw" in command else self.text

    def open_session(self, command: str, *, limit_s: float = 0.0) -> "Said":
        return self

    def close(self) -> None: ...


def test_two_hosts_are_asked_as_root_and_the_file_has_no_names() -> None:
    where = {"device": "mlx5_0", "port": 1, "gid_index": 3, "netdev": "enp1s0"}
    said, rack = {"card": {"schema": 1, "hca_type": "MT4119"}, "where": where}, rack_of("declared")
    hosts = Said(json.dumps(said))
    text = collect_cards(rack, hosts.opened)
    assert hosts.asked[:2] == ["h0", "h1"]
    assert [card_command(host) for host in rack.hosts[:2]] == hosts.asked[2:4]
    assert not [word for word in ("enp1s0", "h0", "10.9.", "mlx5_0") if word in text]
    bundle = json.loads(text)
    assert bundle["cards"] == [said["card"], said["card"]]
    assert bundle["service_levels"] == {"reason": "card 0: `ethtool` failed: not found"}
    assert bundle["uc_transfer"] == {"gbps": 23.1}
    (over_uc,) = [command for command in hosts.asked if " -c UC" in command and "for try" in command]
    assert "--tclass=" in over_uc


def test_a_transfer_and_a_limiter_that_fail_name_nobody() -> None:
    where = {"device": "mlx5_0", "port": 1, "gid_index": 3, "netdev": "enp1s0"}
    refused = "dcb: enp1s0: the driver refuses this rate: Operation not supported"
    card = {"hca_type": "MT4119", "rates": {"reason": refused}}

    class Failing(Said):
        def run(self, command: str, *, limit_s: float = 0.0) -> str:
            if "ib_write_bw" not in command:
                return "" if "ethtool" in command else self.text
            words = "mlx5_0: no path for alice from fe80::1%enp1s0 to node-1.lab.org"
            raise RejectedError(f"h0: `{command}` failed (exit code 1): {words}")

    rack = rack_of("declared")
    login = replace(rack.hosts[1].login, user="alice", address="node-1.lab.org")
    rack = replace(rack, hosts=(rack.hosts[0], replace(rack.hosts[1], login=login)))
    bundle = json.loads(collect_cards(rack, Failing(json.dumps({"card": card, "where": where})).opened))
    assert bundle["cards"][0]["rates"]["reason"] == refused.replace("enp1s0", "<name>")
    for part in ("uc_transfer", "service_levels"):
        reason = bundle[part]["reason"]
        assert reason.startswith("card 0: `timeout 60 sh -c ")
        assert reason.endswith(" (exit code 1): <name>: no path for <name> from <address> to <name>")
    names = ("enp1s0", "h0", "h1", "10.9.", "mlx5_0", "alice", "lab.org", "fe80")
    assert not [name for name in names if name in json.dumps(bundle)]
    assert str(rack.hosts[1].variables.experiment_address) not in json.dumps(bundle)


def test_what_is_run_on_a_host() -> None:
    host = rack_of("declared").hosts[0]
    words = "/usr/bin/env PATH=/usr/sbin:/usr/bin:/sbin:/bin python3 /opt/rogue/rogue-agent.pyz card"
    command = f"{words} {host.variables.experiment_address}"
    assert card_command(replace(host, login=replace(host.login, user="root"))) == command
    assert card_command(replace(host, login=replace(host.login, user="alice"))) == f"sudo -n {command}"


def test_an_agent_without_it_is_a_sentence() -> None:
    with pytest.raises(NodeError, match=r"^h0: got `usage:` from the agent, expected a report"):
        collect_cards(rack_of("declared"), Said("usage: \n").opened)
    with pytest.raises(NodeError, match="expected a report about its card"):
        collect_cards(rack_of("declared"), Said("[1]").opened)
    with pytest.raises(NodeError, match="expected a report about its card"):
        collect_cards(rack_of("declared"), Said('{"card": {}, "where": {"device": "mlx5_0"}}').opened)
    with pytest.raises(NodeError, match="expected a report about its card"):
        collect_cards(rack_of("declared"), Said('{"card": 1, "where": {}}').opened)


def test_one_card_is_not_enough() -> None:
    rack = rack_of("declared")
    with pytest.raises(UsageError, match="got 1 hosts with cards, expected two"):
        collect_cards(replace(rack, hosts=rack.hosts[:1]), Said("{}").opened)


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
def test_addresses_are_left_out(said: str, kept: str) -> None:
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
def test_what_a_card_says_stays(said: str) -> None:
    assert scrubbing({"root": "<name>", "mlx5_0": "<name>"})(said) == said


def test_names_are_whole_words_and_the_longer_one_goes_first() -> None:
    scrub = scrubbing({"h1": "card 1", "h1.lab": "<name>", "": "never"})
    assert scrub("h1 H1.lab h10 ah1 (h1)") == "card 1 <name> h10 ah1 (card 1)"


def test_texts_are_scrubbed_however_deep_they_lie() -> None:
    scrub = scrubbing({"h1": "card 1"})
    assert scrubbed({"h1": [{"a": "h1"}, 1, None, True]}, scrub) == {"h1": [{"a": "card 1"}, 1, None, True]}


def test_an_inventory_names_nodes_users_and_the_way() -> None:
    rack = rack_of("declared")
    bastion = replace(rack.hosts[0].login, node="way", name="bastion", user="bob", address="gw.lab.org")
    login = replace(rack.hosts[0].login, address="node-7.lab.org", user="alice", gateway=bastion)
    names = names_in(replace(rack, hosts=(replace(rack.hosts[0], login=login),)))
    assert {"h0", "node-7.lab.org", "node-7", "alice", "bastion", "bob", "gw.lab.org", "gw", "tor"} <= names
    direct = replace(login, address="192.0.2.7", gateway=None)
    assert "192" not in names_in(replace(rack, hosts=(replace(rack.hosts[0], login=direct),)))
