"""A network that a file describes, link by link."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from rogue.workloads.files import DataFile, from_file
from rogue.workloads.topologies.link import Link
from rogue.workloads.topologies.topology import Topology


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


class Links(Topology):
    """Hosts, switches and links as a file has them, each link with its rate and perhaps a delay.

    `delay` is for links that state none.
    """

    kind: Literal["links"] = "links"
    file: Annotated[LinkList, *from_file(LinkList, "a YAML file of links")]
    """The links, named from the place of the experiment file."""

    def host_names(self) -> tuple[str, ...]:
        """By number."""
        return self.file.hosts

    def switch_names(self) -> tuple[str, ...]:
        """By number."""
        return self.file.switches

    def links(self) -> tuple[Link, ...]:
        """In the order of the file."""
        return self.file.with_delay(self.delay_ns)
