"""The links of a network that a file describes."""

from dataclasses import dataclass, field

from rogue.workloads.files import DataFile
from rogue.workloads.topologies.link import Link


@dataclass(frozen=True, slots=True)
class LinkList:
    """What a file says. Two are equal if their files are."""

    file: DataFile
    hosts: tuple[str, ...] = field(repr=False, compare=False)
    """By number."""
    switches: tuple[str, ...] = field(repr=False, compare=False)
    """By number."""
    links: tuple[tuple[str, str, int, int | None], ...] = field(repr=False, compare=False)
    """Both ends, rate in bps and delay in ns, None: the topology's."""

    def __str__(self) -> str:
        return str(self.file)

    def with_delay(self, delay_ns: int) -> tuple[Link, ...]:
        """The links, in the order of the file."""
        return tuple(
            Link(a, b, rate_bps, delay_ns if own_ns is None else own_ns)
            for a, b, rate_bps, own_ns in self.links
        )
