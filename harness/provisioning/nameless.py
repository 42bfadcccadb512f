"""What nodes say, without who and where they are: for a file that a stranger may read."""

import re
from collections.abc import Callable, Iterator, Mapping
from ipaddress import ip_address
from typing import Final

from rogue.harness.provisioning.inventory import Inventory
from rogue.remote.login import Login

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
