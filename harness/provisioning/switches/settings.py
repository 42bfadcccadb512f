"""What an inventory says about a hardware switch: set by this project, or declared, as others set it."""

from collections.abc import Mapping
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

DECLARED: Final = "declared"
"""The platform of a switch without a login: its declared settings are believed."""
Priority = Annotated[int, Field(ge=0, le=7)]
Difference = Literal["marks", "pauses", "rate", "mtu", "buffer"]
"""What of a switch may be other than an experiment asks."""


class _Settings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Marking(_Settings):
    """ECN marks by the length of a queue, as RED has them."""

    from_bytes: Annotated[int, Field(ge=1)]
    """Below, nothing is marked (kmin)."""
    to_bytes: Annotated[int, Field(ge=1)]
    """Beyond, every packet is marked (kmax)."""
    probability: Annotated[float, Field(gt=0, le=1)] = 1.0
    """With which packets are marked when the queue has just reached `to_bytes`."""

    @model_validator(mode="after")
    def _is_ordered(self) -> Self:
        if self.to_bytes < self.from_bytes:
            raise ValueError(f"to_bytes of at least from_bytes, {self.from_bytes}")
        return self

    def __str__(self) -> str:
        if self.from_bytes == self.to_bytes:
            return f"marks beyond {self.from_bytes} bytes"
        return f"marks from {self.from_bytes} to {self.to_bytes} bytes, then with {self.probability:g}"


class PrioritySettings(_Settings):
    """What ports do with the packets of one priority, on every port of the switch."""

    dscp: tuple[Annotated[int, Field(ge=0, le=63)], ...] = ()
    """Packets with these belong to the priority; none: the switch's own map counts."""
    marks: Marking | None = None
    pauses: bool = False
    """Whether PFC pauses it, in both directions."""
    headroom_bytes: Annotated[int | None, Field(ge=1)] = None
    """What a port keeps for packets that come after it has paused; None: as much as the switch thinks."""
    pause_alpha: Annotated[float | None, Field(gt=0, le=64)] = None
    """What came over a link may hold so many times what is free; None: as the switch thinks."""

    @property
    def asks(self) -> bool:
        """Whether it says anything but which packets it is about."""
        return self != PrioritySettings(dscp=self.dscp)

    def __str__(self) -> str:
        words = [str(self.marks)] if self.marks else []
        words += ["pauses"] if self.pauses else []
        words += [f"keeps {self.headroom_bytes} bytes of headroom"] if self.headroom_bytes else []
        words += [f"pauses beyond {self.pause_alpha:g} times what is free"] if self.pause_alpha else []
        return ", ".join(words) or "nothing"


class HardwarePort(_Settings):
    """One egress of a hardware switch, as its vendor calls it."""

    bridge: Annotated[str, Field(pattern=r"^[a-z][a-z0-9]*$")]
    """The switch of the topology whose place it takes."""
    interface: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:/-]{1,40}$")]
    peer: Annotated[str, Field(pattern=r"^[a-z][a-z0-9]*$")]

    @property
    def name(self) -> str:
        """The port's name in the simulator's tables, such as `s0->h1`."""
        return f"{self.bridge}->{self.peer}"


class HardwareSwitchVariables(BaseModel):
    """What the inventory says about a switch, beyond how to reach it."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    switch_platform: str
    """Whether there is such a platform is asked when all plug-ins are loaded."""
    switch_ports: tuple[HardwarePort, ...] = ()
    switch_priorities: Mapping[Priority, PrioritySettings] = {}
    switch_cell_bytes: Annotated[int | None, Field(ge=1)] = None
    """Of the chip's buffer; for platforms that count in cells and do not say how large they are."""

    switch_may_differ: tuple[Difference, ...] = ()
    """Where experiments ask for other numbers they run all the same, and say so."""
    switch_follows_experiments: bool = False
    """What it marks and pauses is what an experiment asks for; `switch_priorities` only say whose packets."""

    @property
    def interfaces(self) -> tuple[str, ...]:
        """Every interface once, in the order of the inventory."""
        return tuple(dict.fromkeys(port.interface for port in self.switch_ports))

    @property
    def pausing(self) -> tuple[int, ...]:
        """Priorities that pause."""
        return tuple(number for number, each in sorted(self.switch_priorities.items()) if each.pauses)

    @property
    def marking(self) -> tuple[tuple[int, Marking], ...]:
        """Priorities that are marked, with how."""
        settings = sorted(self.switch_priorities.items())
        return tuple((number, each.marks) for number, each in settings if each.marks is not None)

    def numbers_of(self, dscp: int) -> tuple[int, ...]:
        """Priorities to which packets with this DSCP may belong: the one that names it, if one does.

        Otherwise the switch's own map counts, and nobody here knows it: each that names no DSCP.
        """
        settings = self.switch_priorities.items()
        return tuple(number for number, each in settings if dscp in each.dscp) or tuple(
            number for number, each in settings if not each.dscp
        )

    def of_dscp(self, dscp: int) -> tuple[PrioritySettings, ...]:
        """What is said of these priorities."""
        return tuple(self.switch_priorities[number] for number in self.numbers_of(dscp))

    def __str__(self) -> str:
        told = [f"priority {number}: {each}" for number, each in sorted(self.switch_priorities.items())]
        return "; ".join(told) or "neither marks nor pauses"
