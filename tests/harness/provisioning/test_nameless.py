"""Names and addresses, and what looks like them."""

from dataclasses import replace

import pytest
from helpers.rack_inventory import rack_of

from rogue.harness.provisioning.card_bundle import names_in, scrubbed, scrubbing


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
