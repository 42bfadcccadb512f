"""Addresses on the experiment network: each is one host's, and all hosts can send to it."""

from collections.abc import Iterator, Mapping, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import Any, Final

from rogue.harness.errors import Problem

_IPV6_MTU_MIN: Final = 1280
"""Source: RFC 8200, section 5."""


def shared_addresses(
    path: Path, hosts: Sequence[str], variables: Mapping[str, Mapping[str, Any]]
) -> list[Problem]:
    """Each address on the experiment network is one host's."""
    first: dict[str, str] = {}
    problems = []
    for name in hosts:
        written = str(variables.get(name, {}).get("experiment_address", name))
        address = str(_parsed(written) or written)
        if address in first:
            got, advice = f"{address}, which {first[address]} has", "give each host its own"
            place = f"{name}.experiment_address"
            problems.append(Problem(str(path), place, got, "an address of its own", advice))
        first.setdefault(address, name)
    return problems


def unusable_addresses(
    path: Path, hosts: Sequence[str], variables: Mapping[str, Mapping[str, Any]]
) -> list[Problem]:
    """What no host can send to: an address of the other family, of one link or of IPv4 in disguise."""
    problems: list[Problem] = []
    versions: dict[int, str] = {}
    for name in hosts:
        address = _parsed(str(variables.get(name, {}).get("experiment_address", "")))
        if address is None:
            continue
        place = f"{name}.experiment_address"
        first = versions.setdefault(address.version, name)
        if len(versions) > 1 and first == name:
            got, expected = f"an address of IPv{address.version}", "one family for all hosts"
            advice = f"{next(iter(versions.values()))} has the other"
            problems.append(Problem(str(path), place, got, expected, advice))
        problems += _unusable(path, name, address, variables[name])
    return problems


def _unusable(
    path: Path, name: str, address: IPv4Address | IPv6Address, variables: Mapping[str, Any]
) -> Iterator[Problem]:
    """Of IPv6: what counts on one link alone, or is IPv4 in disguise; and an MTU that is too small for it."""
    if isinstance(address, IPv4Address):
        return
    place = f"{name}.experiment_address"
    if address.ipv4_mapped is not None:
        advice = f"write {address.ipv4_mapped}"
        yield Problem(str(path), place, str(address), "an address of IPv6, or one of IPv4 as such", advice)
    elif address.is_link_local:
        advice = "give the interface one of its own, such as fd00::1/64: that of a link needs its name"
        yield Problem(str(path), place, str(address), "an address that counts on the whole node", advice)
    mtu = variables.get("experiment_mtu")
    if isinstance(mtu, int) and mtu < _IPV6_MTU_MIN:
        place, expected = f"{name}.experiment_mtu", f"{_IPV6_MTU_MIN} at least, with an address of IPv6"
        yield Problem(str(path), place, str(mtu), expected, "raise it, or give the hosts addresses of IPv4")


def _parsed(text: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(text)
    except ValueError:
        return None
