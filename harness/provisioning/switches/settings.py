"""Settings of a hardware switch in an inventory: set by this project, or declared because others set them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from rogue.remote.login import Login

DECLARED: Final = "declared"
"""The platform of a switch without a login: its declared settings are believed."""
Priority = Annotated[int, Field(ge=0, le=7)]
IpIdShare = Annotated[int, Field(ge=2, le=2**16)]
"""Losses by IP ID: one packet in this number, a power of two; those whose lowest bits are all set."""
Difference = Literal["marks", "pauses", "rate", "mtu", "buffer"]
"""Kinds of numbers in which a switch may differ from an experiment."""


class _Settings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Marking(_Settings):
    """ECN marks by the length of a queue, as RED has them."""

    from_bytes: Annotated[int, Field(ge=1)]
    """No packet is marked below this length (kmin)."""
    to_bytes: Annotated[int, Field(ge=1)]
    """Every packet is marked beyond this length (kmax)."""
    probability: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Probability of a mark when the queue has just reached `to_bytes`."""
    average_weight: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Weight of each packet's view of the queue in its average; 1: the queue itself counts."""
    drops_above: bool = False
    """True if packets beyond `to_bytes` are dropped, even if they are ECN-capable."""

    @model_validator(mode="after")
    def _is_ordered(self) -> Self:
        if self.to_bytes < self.from_bytes:
            raise ValueError(f"to_bytes of at least from_bytes, {self.from_bytes}")
        return self

    def __str__(self) -> str:
        words = f"marks beyond {self.from_bytes} bytes"
        if self.from_bytes != self.to_bytes:
            words = f"marks from {self.from_bytes} to {self.to_bytes} bytes, then with {self.probability:g}"
        average = f" of an average with weight {self.average_weight:g}" if self.average_weight < 1 else ""
        return words + average + (", drops beyond" if self.drops_above else "")


class PrioritySettings(_Settings):
    """Marks and pauses of one priority, the same on every port of the switch."""

    dscp: tuple[Annotated[int, Field(ge=0, le=63)], ...] = ()
    """DSCPs of the priority's packets; if empty, the switch's own map counts."""
    marks: Marking | None = None
    pauses: bool = False
    """True if PFC pauses it, in both directions."""
    headroom_bytes: Annotated[int | None, Field(ge=1)] = None
    """Buffer for packets that arrive after a port has paused; None leaves it to the switch."""
    pause_alpha: Annotated[float | None, Field(gt=0, le=64)] = None
    """A port pauses when its packets hold this multiple of the free buffer; None: the switch decides."""

    @property
    def has_settings(self) -> bool:
        """True if it has more than DSCPs."""
        return self != PrioritySettings(dscp=self.dscp)

    def __str__(self) -> str:
        words = [str(self.marks)] if self.marks else []
        words += ["pauses"] if self.pauses else []
        words += [f"keeps {self.headroom_bytes} bytes of headroom"] if self.headroom_bytes else []
        words += [f"pauses beyond {self.pause_alpha:g} times the free buffer"] if self.pause_alpha else []
        return ", ".join(words) or "nothing"


class HardwarePort(_Settings):
    """One egress port of a hardware switch."""

    bridge: Annotated[str, Field(pattern=r"^[a-z][a-z0-9]*$")]
    """The switch of the topology that the port belongs to."""
    interface: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:/-]{1,40}$")]
    peer: Annotated[str, Field(pattern=r"^[a-z][a-z0-9]*$")]

    @property
    def name(self) -> str:
        """Return the port's name in the simulator's tables, such as `s0->h1`."""
        return f"{self.bridge}->{self.peer}"


class HardwareSwitchVariables(BaseModel):
    """Variables of a switch in the inventory, other than its login."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    switch_platform: str
    """A shipped platform, `declared`, or the path of a platform's folder, which has a `/`."""
    switch_ports: tuple[HardwarePort, ...] = ()
    switch_priorities: Mapping[Priority, PrioritySettings] = {}
    switch_cell_bytes: Annotated[int | None, Field(ge=1)] = None
    """Size of a buffer cell, for platforms that count in cells and do not show the size."""

    switch_loses_one_in: Mapping[str, IpIdShare] = {}
    """RoCE packets that leave an interface and are dropped by their IP ID: one in this number."""
    switch_may_differ: tuple[Difference, ...] = ()
    """Kinds of numbers that may differ from an experiment; the run states the difference."""
    switch_follows_experiments: bool = False
    """True if marks and pauses follow the experiment; `switch_priorities` then have DSCPs alone."""

    @model_validator(mode="after")
    def _loses_by_a_mask(self) -> Self:
        for interface, one_in in self.switch_loses_one_in.items():
            if interface not in self.interfaces:
                raise ValueError(f"switch_loses_one_in: an interface of switch_ports instead of {interface}")
            if one_in & (one_in - 1):
                raise ValueError(f"switch_loses_one_in: a power of two instead of {one_in}")
        return self

    @property
    def platform_name(self) -> str:
        """Return the platform's name, without its folder."""
        return self.switch_platform.rpartition("/")[2]

    @property
    def interfaces(self) -> tuple[str, ...]:
        """Return every interface once, in the order of the inventory."""
        return tuple(dict.fromkeys(port.interface for port in self.switch_ports))

    @property
    def pausing(self) -> tuple[int, ...]:
        """Return the priorities that pause."""
        return tuple(number for number, each in sorted(self.switch_priorities.items()) if each.pauses)

    @property
    def marking(self) -> tuple[tuple[int, Marking], ...]:
        """Return the priorities that mark, each with its marking."""
        settings = sorted(self.switch_priorities.items())
        return tuple((number, each.marks) for number, each in settings if each.marks is not None)

    def numbers_of(self, dscp: int) -> tuple[int, ...]:
        """Return the priorities to which packets with a DSCP may belong.

        That is the priority that names the DSCP. Without one, the map of the switch counts, which is not
        known here: then it is every priority that names no DSCP.
        """
        settings = self.switch_priorities.items()
        return tuple(number for number, each in settings if dscp in each.dscp) or tuple(
            number for number, each in settings if not each.dscp
        )

    def of_dscp(self, dscp: int) -> tuple[PrioritySettings, ...]:
        """Return the settings of these priorities."""
        return tuple(self.switch_priorities[number] for number in self.numbers_of(dscp))

    def __str__(self) -> str:
        words = [f"priority {number}: {each}" for number, each in sorted(self.switch_priorities.items())]
        words += [
            f"{name} loses one in {one_in}" for name, one_in in sorted(self.switch_loses_one_in.items())
        ]
        return "; ".join(words) or "no marks and no pauses"


@dataclass(frozen=True, slots=True)
class HardwareSwitch:
    """A switch that is no Linux machine; several may make up the network."""

    name: str
    variables: HardwareSwitchVariables
    login: Login | None
    """None for a declared switch."""
