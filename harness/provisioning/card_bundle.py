"""Collect what the cards of two hosts report, anonymised, in one file."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from ipaddress import ip_address
from typing import Any, Final

from rogue.harness.errors import UsageError
from rogue.harness.provisioning.inventory import Host, Inventory
from rogue.harness.provisioning.places import AGENT, WITH_PROGRAMS
from rogue.harness.provisioning.rdma_transfers import End, mean_gbps, priorities_of_levels, transferred
from rogue.remote.connection import Shell, connect
from rogue.remote.errors import NodeError
from rogue.remote.login import Login
from rogue.workloads.json_text import parse_json

SCHEMA: Final = 1
LIMIT_S: Final = 120.0
NAME: Final = "<name>"
_ADDRESS: Final = "<address>"
_PATTERNS: Final = {
    # IPv6, before the IPv4 at the end of one; also Ethernet addresses, GIDs and PCI addresses
    re.compile(r"(?<![\w:])(?=[:.]*[0-9a-f])(?:[0-9a-f]{0,4}:){2,}[0-9a-f.]*(?:%[\w.<>-]+)?", re.I): _ADDRESS,
    re.compile(r"(?<!\d)\d{1,3}(?:\.\d{1,3}){3}(?!\.?\d)"): _ADDRESS,  # IPv4
    re.compile(r"(?<![\w-])(?:[0-9a-f]{2}-){5}[0-9a-f]{2}(?![\w-])", re.I): _ADDRESS,
    re.compile(r"(?<=/home/)[^/\s]+"): NAME,
}
_COMMON_USER: Final = "root"
"""A user that every node has, so the name identifies no one."""
_HOSTS: Final = 2
Bundle = Mapping[str, Any]
Scrub = Callable[[str], str]


def collect_cards(
    inventory: Inventory, open_shell: Callable[[Login], AbstractContextManager[Shell]] = connect
) -> str:
    """Return the JSON text about the first two hosts with cards; NodeError if one of them does not reply."""
    hosts = [host for host in inventory.hosts if host.variables.rdma_device_kind == "card"][:_HOSTS]
    if len(hosts) < _HOSTS:
        raise UsageError(
            f"inventory {inventory.path}: got {len(hosts)} hosts with cards, expected two; --card compares "
            "two cards of one kind."
        )
    with ExitStack() as stack:
        shells = {host.name: stack.enter_context(open_shell(host.login)) for host in hosts}
        replies = [_reply(host, shells[host.name].run(card_command(host), limit_s=LIMIT_S)) for host in hosts]
        ends = [End(host, each["where"]) for host, each in zip(hosts, replies, strict=True)]
        between = {"service_levels": priorities_of_levels(shells, *ends), "uc_transfer": _uc(shells, *ends)}
    devices = [str(each["where"][key]) for each in replies for key in ("device", "netdev")]
    names = dict.fromkeys([*names_in(inventory), *devices], NAME)
    scrub = scrubbing(names | {host.name: f"card {number}" for number, host in enumerate(hosts)})
    cards = {"kind": "rogue-cards", "schema": SCHEMA, "cards": [each["card"] for each in replies]}
    return json.dumps(scrubbed({**cards, **between}, scrub), indent=1, sort_keys=True) + "\n"


def card_command(host: Host) -> str:
    """Return the command that a host runs, as root."""
    command = f"{WITH_PROGRAMS} python3 {AGENT} card {host.variables.experiment_address}"
    return command if host.login.user == "root" else f"sudo -n {command}"


def _reply(host: Host, text: str) -> Bundle:
    try:
        reply: Any = parse_json(text.encode())
        where = {key: reply["where"][key] for key in ("device", "port", "gid_index", "netdev")}
        return {"card": dict(reply["card"].items()), "where": where}
    except (ValueError, KeyError, TypeError, AttributeError):
        got = " ".join(text.split())[:60]
        expected = "a report about its card, in JSON; provision it again."
        raise NodeError(f"{host.name}: got `{got}` from the agent, expected {expected}") from None


def _uc(shells: Mapping[str, Shell], sender: End, receiver: End) -> Bundle:
    """Return the rate of WRITEs over UC, which are not acknowledged."""
    try:
        gbps = mean_gbps(transferred(shells, (sender, receiver), ("-c", "UC")))
    except NodeError as error:
        return {"reason": str(error)}
    return {"reason": "no result of ib_write_bw"} if gbps is None else {"gbps": gbps}


def names_in(inventory: Inventory) -> frozenset[str]:
    """Return all names of nodes, interfaces and users in an inventory."""
    logins = [*inventory.logins, *(each.login for each in inventory.hardware_switches if each.login)]
    interfaces = [host.variables.experiment_interface or "" for host in inventory.hosts]
    switches = [each.name for each in inventory.hardware_switches]
    switches += [each.name for each in inventory.allocated_switches]
    return frozenset([*switches, *interfaces, *(name for login in logins for name in _names_of(login))])


def _names_of(login: Login) -> Iterator[str]:
    """Yield the names of a node and of its jump hosts; of a domain name also the first label."""
    yield from (login.node, login.address, login.user, login.name, login.host_key_alias)
    try:
        ip_address(login.address)
    except ValueError:
        yield login.address.partition(".")[0]
    if login.gateway is not None:
        yield from _names_of(login.gateway)


def scrubbing(words: Mapping[str, str]) -> Scrub:
    """Return a function that replaces each name by its word, and every address."""
    known = {name.lower(): word for name, word in words.items() if name not in {"", _COMMON_USER}}
    longest_first = "|".join(map(re.escape, sorted(known, key=len, reverse=True)))
    names = re.compile(rf"(?<!\w)(?:{longest_first})(?!\w)" if known else r"(?!)", re.I)

    def scrub(text: str) -> str:
        text = names.sub(lambda found: known.get(found[0].lower(), NAME), text)
        for pattern, word in _PATTERNS.items():
            text = pattern.sub(word, text)
        return text

    return scrub


def scrubbed(content: object, scrub: Scrub) -> object:
    """Return the same mappings and lists, with every text scrubbed."""
    if isinstance(content, str):
        return scrub(content)
    if isinstance(content, Mapping):
        return {key: scrubbed(each, scrub) for key, each in content.items()}
    return [scrubbed(each, scrub) for each in content] if isinstance(content, list) else content
