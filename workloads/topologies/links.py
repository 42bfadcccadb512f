"""A network that a file describes, link by link."""

from typing import Annotated, Literal

from rogue.workloads.files import from_file
from rogue.workloads.topologies.link import Link
from rogue.workloads.topologies.link_list import LinkList
from rogue.workloads.topologies.topology import Topology


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
