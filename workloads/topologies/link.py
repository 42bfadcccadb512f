"""A cable between two nodes."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Link:
    """A full-duplex link."""

    a: str
    b: str
    rate_bps: int
    delay_ns: int
    """One way."""

    @property
    def ports(self) -> tuple[str, str]:
        """Both directions, as node->neighbour."""
        return f"{self.a}->{self.b}", f"{self.b}->{self.a}"

    def other_end(self, node: str) -> str:
        """The end that is not this one."""
        return self.b if node == self.a else self.a
