"""Networks in YAML: a list of links, each with its ends, a rate and perhaps a delay."""

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

import yaml
from pydantic_core import PydanticCustomError

from rogue.harness.data.source import DataSource
from rogue.harness.data.yaml_text import YamlError, parse_yaml
from rogue.workloads.printable import did_you_mean
from rogue.workloads.topologies.link_file import LinkList
from rogue.workloads.topologies.topology import HOSTS_MAX
from rogue.workloads.units import RATE, TIME, Quantity, UnitError

TEXT_BYTES_MAX: Final = 4_000_000
LINKS_MAX: Final = 40_000
VALUES_MAX: Final = 10 * LINKS_MAX
RATE_BPS_MAX: Final = 10**13
DELAY_NS_MAX: Final = 10**10
KEYS: Final = ("link", "rate", "delay")
_ENDS: Final = re.compile(r"([hs](?:0|[1-9][0-9]{0,8}))-([hs](?:0|[1-9][0-9]{0,8}))")
_SHAPE: Final = "links: a list of mappings such as {link: h0-s0, rate: 10Gbps, delay: 1us}"

Entry = Mapping[str, tuple[str, int]]
"""By key: the written value and its line."""


class _Link(NamedTuple):
    a: str
    b: str
    rate_bps: int
    delay_ns: int | None
    line: int


def read_network(source: DataSource) -> LinkList:
    """Read a network; a mistake names line and key."""
    found: list[_Link] = []
    seen: dict[frozenset[str], int] = {}
    for entry in _entries(source):
        link = _link(source, entry)
        ends = frozenset((link.a, link.b))
        if ends in seen:
            got = f"{link.a}-{link.b} again"
            raise _wrong(source, link.line, "link", got, f"one link, as in line {seen[ends]}")
        seen[ends] = link.line
        found.append(link)
    nodes = sorted({end for link in found for end in (link.a, link.b)}, key=lambda node: int(node[1:]))
    hosts = tuple(node for node in nodes if node.startswith("h"))
    switches = tuple(node for node in nodes if node.startswith("s"))
    if not 2 <= len(hosts) <= HOSTS_MAX:
        raise source.wrong(f"{len(hosts)}", f"2 to {HOSTS_MAX} hosts", "add links, or take some away")
    _check_hosts(source, found)
    _check_joined(source, found, nodes)
    return LinkList(source.file, hosts, switches, tuple(link[:4] for link in found))


def _wrong(source: DataSource, line: int, key: str, got: str, expected: str) -> PydanticCustomError:
    return source.wrong(got, expected, place=f"line {line}, key {key}")


def _link(source: DataSource, entry: Entry) -> _Link:
    for key, (_, line) in entry.items():
        if key not in KEYS:
            got, advice = f"the key {key[:40]}", did_you_mean(key, KEYS, "remove it")
            raise source.wrong(got, f"the keys {', '.join(KEYS)}", advice, f"line {line}")
    line = min(line for _, line in entry.values())
    for key in ("link", "rate"):
        if key not in entry:
            raise _wrong(source, line, key, "nothing", _SHAPE)
    ends, line = entry["link"]
    found = _ENDS.fullmatch(ends)
    if found is None:
        raise _wrong(source, line, "link", ends, "two ends, hosts h0, h1, ... or switches s0, s1, ...: h0-s0")
    a, b = found.groups()
    if a == b or (a.startswith("h") and b.startswith("h")):
        raise _wrong(source, line, "link", ends, "a host and a switch, or two switches")
    rate_bps = _amount(source, "rate", entry["rate"], RATE, RATE_BPS_MAX)
    if not rate_bps:
        raise _wrong(source, entry["rate"][1], "rate", entry["rate"][0], "a rate above zero")
    delay_ns = _amount(source, "delay", entry["delay"], TIME, DELAY_NS_MAX) if "delay" in entry else None
    return _Link(a, b, rate_bps, delay_ns, line)


def _amount(source: DataSource, key: str, written: tuple[str, int], quantity: Quantity, most: int) -> int:
    text, line = written
    try:
        amount = quantity.parse(text)
    except UnitError as error:
        raise _wrong(source, line, key, text or "nothing", error.expected) from error
    if amount > most:
        raise _wrong(source, line, key, text, f"at most {quantity.format(most)}")
    return amount


def _check_hosts(source: DataSource, links: list[_Link]) -> None:
    first: dict[str, int] = {}
    for link in links:
        for end in (link.a, link.b):
            if end.startswith("h") and end in first:
                got = f"{end} a second time"
                raise _wrong(source, link.line, "link", got, f"one link of a host, as in line {first[end]}")
            first[end] = link.line


def _check_joined(source: DataSource, links: list[_Link], nodes: list[str]) -> None:
    neighbours: dict[str, list[str]] = {node: [] for node in nodes}
    for link in links:
        neighbours[link.a].append(link.b)
        neighbours[link.b].append(link.a)
    start = links[0].a
    reached, new = {start}, [start]
    while new:
        near = [node for node in neighbours[new.pop()] if node not in reached]
        reached.update(near)
        new += near
    apart = [link for link in links if link.a not in reached]
    if apart:
        got = f"{apart[0].a}-{apart[0].b}, which no path connects with {start},"
        raise _wrong(source, apart[0].line, "link", got, "a network in one piece")


def _entries(source: DataSource) -> Iterator[Entry]:
    if len(source.content) > TEXT_BYTES_MAX:
        raise source.wrong(f"{len(source.content)} bytes", f"at most {TEXT_BYTES_MAX}", "take links away")
    try:
        parsed = parse_yaml(source.text, VALUES_MAX, yaml.CSafeLoader)
    except YamlError as error:
        expected = f"{error.expected.replace('experiment', 'network')} ({_SHAPE})"
        raise source.wrong(error.got, expected, error.advice, f"line {error.line}") from error
    lines = parsed.lines
    content = parsed.value if isinstance(parsed.value, dict) else {}
    links, other = content.get("links"), next((key for key in content if key != "links"), None)
    if other is not None or not isinstance(links, list):
        line = 1 if other is None else lines[other,]
        raise source.wrong("other YAML", f"YAML, {_SHAPE}", place=f"line {line}")
    if not 0 < len(links) <= LINKS_MAX:
        raise source.wrong(f"{len(links)} links", f"1 to {LINKS_MAX} links")
    for index, entry in enumerate(links):
        line = lines["links", index]
        values = entry.values() if isinstance(entry, dict) else ()
        if not values or any(isinstance(each, dict | list) for each in values):
            raise source.wrong("other YAML", _SHAPE, place=f"line {line}")
        # The keys of an alias have no lines of their own.
        yield {key: (_text(value), lines.get(("links", index, key), line)) for key, value in entry.items()}


def _text(value: object) -> str:
    return "" if value is None else str(value)


def network_text(network: LinkList) -> str:
    """Return the YAML file of a network."""
    lines = ["links:"]
    for a, b, rate_bps, delay_ns in network.links:
        delay = "" if delay_ns is None else f", delay: {TIME.format(delay_ns)}"
        lines.append(f"  - {{link: {a}-{b}, rate: {RATE.format(rate_bps)}{delay}}}")
    return "\n".join(lines) + "\n"
