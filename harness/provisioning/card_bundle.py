"""Collect what the cards of two hosts report, anonymised, in one file."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final, cast

from rogue.harness.errors import UsageError
from rogue.harness.provisioning.cards import card_name
from rogue.harness.provisioning.inventory import Host, Inventory
from rogue.harness.provisioning.places import AGENT, WITH_PROGRAMS
from rogue.harness.provisioning.rdma_transfers import End, mean_gbps, priorities_of_levels, transferred
from rogue.remote.connection import Shell, connect
from rogue.remote.errors import NodeError
from rogue.remote.login import Login
from rogue.reports.reading.files import read_regular
from rogue.workloads.printable import parse_json, printable

NAME: Final = "<name>"
_ADDRESS: Final = "<address>"
_PATTERNS: Final = {
    # IPv6, before the IPv4 at the end of one; also Ethernet addresses, GIDs and what PCI calls a device
    re.compile(r"(?<![\w:])(?=[:.]*[0-9a-f])(?:[0-9a-f]{0,4}:){2,}[0-9a-f.]*(?:%[\w.<>-]+)?", re.I): _ADDRESS,
    re.compile(r"(?<!\d)\d{1,3}(?:\.\d{1,3}){3}(?!\.?\d)"): _ADDRESS,  # IPv4
    re.compile(r"(?<![\w-])(?:[0-9a-f]{2}-){5}[0-9a-f]{2}(?![\w-])", re.I): _ADDRESS,
    re.compile(r"(?<=/home/)[^/\s]+"): NAME,
}
_NOBODY: Final = "root"
"""A user that every node has, and that therefore names nobody."""
Scrub = Callable[[str], str]


def names_in(inventory: Inventory) -> frozenset[str]:
    """Everything in an inventory that names a node, an interface or a user."""
    logins = [*inventory.logins, *(each.login for each in inventory.hardware_switches if each.login)]
    interfaces = [host.variables.experiment_interface or "" for host in inventory.hosts]
    switches = [each.name for each in inventory.hardware_switches]
    switches += [each.name for each in inventory.allocated_switches]
    return frozenset([*switches, *interfaces, *(name for login in logins for name in _names_of(login))])


def _names_of(login: Login) -> Iterator[str]:
    """Of a node and of the hosts on the way to it; a domain name also by its first word, as the node says."""
    yield from (login.node, login.address, login.user, login.name, login.host_key_alias)
    if not _is_address(login.address):
        yield login.address.partition(".")[0]
    if login.gateway is not None:
        yield from _names_of(login.gateway)


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def scrubbing(words: Mapping[str, str]) -> Scrub:
    """What puts a word in place of each name, and one in place of every address."""
    known = {name.lower(): word for name, word in words.items() if name not in {"", _NOBODY}}
    longest_first = "|".join(map(re.escape, sorted(known, key=len, reverse=True)))
    names = re.compile(rf"(?<!\w)(?:{longest_first})(?!\w)" if known else r"(?!)", re.I)

    def scrub(text: str) -> str:
        text = names.sub(lambda found: known.get(found[0].lower(), NAME), text)
        for pattern, word in _PATTERNS.items():
            text = pattern.sub(word, text)
        return text

    return scrub


def scrubbed(content: object, scrub: Scrub) -> object:
    """The same mappings and lists, with every text scrubbed."""
    if isinstance(content, str):
        return scrub(content)
    if isinstance(content, Mapping):
        return {key: scrubbed(each, scrub) for key, each in content.items()}
    return [scrubbed(each, scrub) for each in content] if isinstance(content, list) else content


SCHEMA: Final = 1
LIMIT_S: Final = 120.0
_KIND: Final = "rogue-cards"
_HOSTS: Final = 2
_WHERE: Final = ("device", "port", "gid_index", "netdev")
_NOT_READ: Final = (KeyError, TypeError, ValueError, IndexError)
_UNREADABLE: Final = (OSError, ValueError)
"""What is no file, or not there, or no JSON within bounds."""
Bundle = Mapping[str, Any]


def ask_cards(
    inventory: Inventory, open_shell: Callable[[Login], AbstractContextManager[Shell]] = connect
) -> Bundle:
    """The bundle of the first two hosts with cards; NodeError if one cannot say anything."""
    hosts = [host for host in inventory.hosts if host.variables.rdma_device_kind == "card"][:_HOSTS]
    if len(hosts) < _HOSTS:
        raise UsageError(
            f"inventory {inventory.path}: got {len(hosts)} hosts with cards, expected two; --card asks two "
            "cards of one kind, so that one that is odd shows."
        )
    with ExitStack() as stack:
        shells = {host.name: stack.enter_context(open_shell(host.login)) for host in hosts}
        said = [_said(host, shells[host.name].run(card_command(host), limit_s=LIMIT_S)) for host in hosts]
        ends = [End(host, each["where"]) for host, each in zip(hosts, said, strict=True)]
        between = {"service_levels": priorities_of_levels(shells, *ends), "uc_transfer": _uc(shells, *ends)}
    names = dict.fromkeys([*names_in(inventory), *_places(said)], NAME)
    scrub = scrubbing(names | {host.name: f"card {number}" for number, host in enumerate(hosts)})
    told = scrubbed({"cards": [each["card"] for each in said], **between}, scrub)
    return {"kind": _KIND, "schema": SCHEMA, **cast("Bundle", told)}


def _places(said: list[Bundle]) -> Iterator[str]:
    """What hosts call their cards."""
    for each in said:
        yield from (str(each["where"]["device"]), str(each["where"]["netdev"]))


def _uc(shells: Mapping[str, Shell], sender: End, receiver: End) -> Bundle:
    """What perftest says of WRITEs over UC, which nobody acknowledges."""
    try:
        gbps = mean_gbps(transferred(shells, (sender, receiver), more=("-c", "UC")))
    except NodeError as error:
        return {"reason": str(error)}
    return {"reason": "no result of ib_write_bw"} if gbps is None else {"gbps": gbps}


def card_command(host: Host) -> str:
    """What a host runs, as root."""
    command = f"{WITH_PROGRAMS} python3 {AGENT} card {host.variables.experiment_address}"
    return command if host.login.user == "root" else f"sudo -n {command}"


def _said(host: Host, text: str) -> Bundle:
    try:
        said = cast("Bundle", parse_json(text.encode()))
        where = {key: said["where"][key] for key in _WHERE}
        return {"card": dict(said["card"].items()), "where": where}
    except (ValueError, KeyError, TypeError, AttributeError):
        got = " ".join(text.split())[:60]
        expected = "what its card says, in JSON; provision it again."
        raise NodeError(f"{host.name}: got `{got}` from the agent, expected {expected}") from None


def text_of(bundle: Bundle) -> str:
    """What a bundle's file has: JSON that a person can read."""
    return json.dumps(bundle, indent=1, sort_keys=True) + "\n"


def is_bundle(path: Path) -> bool:
    """Whether a file is one, and no inventory, which may be JSON, too."""
    try:
        found = _parsed(path)
    except _UNREADABLE:
        return False
    return isinstance(found, dict) and found.get("kind") == _KIND


def read_bundle(path: Path) -> Bundle:
    """A file that somebody sent; UsageError if it is none."""
    try:
        found = cast("Bundle", _parsed(path))
    except _UNREADABLE as error:
        raise UsageError(f"{path}: got {error}, expected a file of `rogue doctor --card`.") from None
    is_one = isinstance(found, dict) and found.get("kind") == _KIND and found.get("schema") == SCHEMA
    if not is_one or not isinstance(found.get("cards"), list):
        raise UsageError(f"{path}: got another file, expected one of `rogue doctor --card`, schema {SCHEMA}.")
    for number, card in enumerate(found["cards"]):
        if not isinstance(card, dict):
            got = f"{type(card).__name__} in place of card {number}"
            raise UsageError(f"{path}: got {got}, expected what a card says, by part; ask for the file anew.")
    return found


def _parsed(path: Path) -> object:
    """What a file says, whoever made it: a pipe is not waited for, and a huge one not read."""
    return parse_json(read_regular(path))


def sentences(bundle: Bundle) -> Iterator[str]:
    """What a bundle says, card by card, with nothing that steers a terminal: others may have written it."""
    return map(printable, _sentences(bundle))


def _sentences(bundle: Bundle) -> Iterator[str]:
    """A part that is not there is told with its reason."""
    for number, card in enumerate(bundle["cards"]):
        name = f"card {number} ({card_name(str(card.get('hca_type', '')))})"
        yield f"{name}: firmware {card.get('firmware', 'unknown')}, PCIe {card.get('pcie', 'unknown')}"
        for what, tell in _PARTS.items():
            part = card.get(what, {"reason": "not asked"})
            try:
                words = f"nothing: {part['reason']}" if "reason" in part else tell(part)
            except _NOT_READ:
                words = "a part that this release cannot read"
            yield f"{name}: {_CALLED[what]}: {words}"
    yield f"service levels of card 0 leave in priorities: {_levels(bundle.get('service_levels'))}"
    yield f"UC from card 0 to card 1: {_uc_words(bundle.get('uc_transfer'))}"


def _uc_words(part: object) -> str:
    if not isinstance(part, Mapping):
        return "nothing: not asked"
    gbps = part.get("gbps")
    if not isinstance(gbps, int | float):
        return f"nothing: {part.get('reason', 'not asked')}"
    return f"{gbps:g} Gb/s"


def _levels(part: object) -> str:
    """What was counted on the wire."""
    if not isinstance(part, Mapping) or not isinstance(part.get("priorities"), list):
        reason = part.get("reason", "not asked") if isinstance(part, Mapping) else "not asked"
        return f"nothing: {reason}"
    return " ".join(
        f"{level}:{'?' if each is None else each}" for level, each in enumerate(part["priorities"])
    )


def _clock(part: Bundle) -> str:
    return f"read in {part['read_ns'] / 1e3:.1f} µs, {part['drift_ppm']:+.1f} ppm beside the host's"


def _rates(part: Bundle) -> str:
    other = [
        f"{each['has_kbps'] / 1e6:g} Gb/s for {each['asked_kbps'] / 1e6:g}"
        for each in part["set"]
        if each["has_kbps"] != each["asked_kbps"]
    ]
    took_us = sorted(each["took_ns"] / 1e3 for each in part["set"])
    classes = " ".join(f"{priority}:{number}" for priority, number in enumerate(part["classes"]))
    trust = ", and the DSCP decides" if part["trusts_dscp"] else ""
    return (
        f"{', '.join(other) or 'as asked'}; set in {took_us[0]:.0f} to {took_us[-1]:.0f} µs; classes of "
        f"service levels {classes}{trust}"
    )


def _queue_pair(part: Bundle) -> str:
    took_us = sorted(each / 1e3 for each in part["reset_ns"])
    return (
        f"ready in {part['ready_ns'] / 1e3:.0f} µs; through RESET and back {len(took_us)} times, "
        f"{took_us[0]:.0f} to {took_us[-1]:.0f} µs each; completions stamped by the {part['clock']}"
    )


_PARTS: Final[Mapping[str, Callable[[Bundle], str]]] = {
    "clock": _clock,
    "rates": _rates,
    "rc": _queue_pair,
    "uc": _queue_pair,
}
_CALLED: Final = {"clock": "clock", "rates": "maximum rates", "rc": "RC", "uc": "UC"}
