"""A network that a file lists link by link."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from rogue.workloads.files import DataFile, from_file
from rogue.workloads.topologies.graph import Link
from rogue.workloads.topologies.topology import Topology


@dataclass(frozen=True, slots=True)
class LinkList:
    """The content of a file. Two are equal if their files are."""

    file: DataFile
    hosts: tuple[str, ...] = field(repr=False, compare=False)
    """By number."""
    switches: tuple[str, ...] = field(repr=False, compare=False)
    """By number."""
    links: tuple[tuple[str, str, int, int | None], ...] = field(repr=False, compare=False)
    """Both ends, rate in bps and delay in ns; None: the topology's delay."""

    def __str__(self) -> str:
        return str(self.file)

    def with_delay(self, delay_ns: int) -> tuple[Link, ...]:
        """Return the links, with a delay for those without one."""
        return tuple(
            Link(a, b, rate_bps, delay_ns if own_ns is None else own_ns)
            for a, b, rate_bps, own_ns in self.links
        )


class Links(Topology):
    """Hosts, switches and links from a file, each link with its rate and perhaps a delay.

    `delay` applies to links that state none.
    """

    kind: Literal["links"] = "links"
    file: Annotated[LinkList, *from_file(LinkList, "a YAML file of links")]
    """The links; the path is relative to the experiment file."""

    def host_names(self) -> tuple[str, ...]:
        return self.file.hosts

    def switch_names(self) -> tuple[str, ...]:
        return self.file.switches

    def links(self) -> tuple[Link, ...]:
        return self.file.with_delay(self.delay_ns)
