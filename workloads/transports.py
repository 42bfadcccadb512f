"""The catalogue of transports: a base, and NIC or switch features added with ``+``.

The names are those of experiment files; each testbed decides which of them it can run.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from rogue.workloads.framing import IWARP_SEGMENTS, TCP_SEGMENTS, Framing, Packets, with_telemetry
from rogue.workloads.switch_controls import SwitchControlParameter

if TYPE_CHECKING:
    from rogue.workloads.traffic.workload import Verb

Service = Literal["rc", "uc", "tcp"]

VERBS: Final["dict[Service, tuple[Verb, ...]]"] = {
    "rc": ("write", "read", "send"),
    "uc": ("write", "send"),
    "tcp": ("write",),
}
"""Verbs of each service; over TCP data are always a stream from the sender.

Source: InfiniBand Architecture Specification, volume 1, chapter 9.
"""


@dataclass(frozen=True, slots=True)
class Base:
    """A transport without features."""

    service: Service
    meaning: str
    features: tuple[str, ...] = ()
    """Its possible features."""
    is_write_only: bool = False
    """Its NIC moves bytes by WRITE alone."""
    packets: Packets | None = None
    """Its full packets, if they are not those of the network's MTU."""
    is_in_kernels: bool = False
    """Linux implements it."""
    wants_marks: bool = False
    """It reacts to marks of switches."""
    control: str | None = None
    """Congestion control of its NIC without a feature."""
    recovery: str | None = None
    """Loss recovery of its NIC, by the engine's name; None: that of RoCE or TCP."""
    recovery_values: tuple[tuple[str, float], ...] = ()
    """Parameters of its loss recovery by which it differs from another transport."""
    single_path_reason: str | None = None
    """Why its packets must not be sprayed; None: they may be."""
    is_sprayed: bool = False
    """It sprays packets without a feature."""
    wants_curve: bool = False
    """Switches mark its packets from a share of the bandwidth-delay product on."""

    @property
    def allowed(self) -> tuple[str, ...]:
        """Return its features, with the controls of plug-ins if any control is possible."""
        if CREDITS in self.features:
            return (*self.features, *RECEIVER_CONTROLS)
        plugged = (name for name in NIC_CONTROLS if name not in ALL_FEATURES)
        return (*self.features, *plugged) if self.features == ALL_FEATURES else self.features


@dataclass(frozen=True, slots=True)
class ControlFeature:
    """A congestion control in NICs, as a feature of a transport."""

    meaning: str
    wants_telemetry: bool = False
    """Switches write telemetry into packets, for which all packets of the network have room."""
    made_as: str | None = None
    """Of a plug-in's control: in Python, or compiled."""
    title: str | None = None
    """Name for figures; None: the word itself."""
    wants_marks: bool = False
    """Switches mark packets for it."""
    wants_fair_rates: bool = False
    """Switches compute rates and send them to senders."""

    @property
    def single_path_reason(self) -> str | None:
        """Return why its packets must not be sprayed; None if they may be."""
        if self.wants_fair_rates:
            return "switches send rates back on the path of the packets"
        if self.wants_telemetry:
            return "it compares the telemetry of the same ports in successive packets"
        return None


@dataclass(frozen=True, slots=True)
class ReceiverControlEntry:
    """A control that grants credit at receivers, as a feature of a transport."""

    meaning: str
    made_as: str
    parameters: tuple[SwitchControlParameter, ...] = ()


@dataclass(frozen=True, slots=True)
class TransportName:
    """A parsed transport name."""

    base: str
    features: tuple[str, ...] = ()

    @property
    def service(self) -> Service:
        """Return the service: reliable connection, unreliable connection or TCP."""
        return BASES[self.base].service

    @property
    def agent(self) -> str:
        """Return the transport of the agent, which is independent of features and loss recovery of NICs."""
        return self.base if BASES[self.base].recovery is None else "roce"

    @property
    def control(self) -> str | None:
        """Return the congestion control of its NICs, without its variant; None if they have none."""
        words = (BASES[self.base].control, *self.features)
        return next((word for word in words if word in NIC_CONTROLS), None)

    @property
    def recovery(self) -> str | None:
        """Return the loss recovery of its NICs, by the engine's name; None: that of RoCE or TCP."""
        recovery = BASES[self.base].recovery
        return f"{recovery}-{CREDITS}" if self.has_credits else recovery

    @property
    def has_fair_rates(self) -> bool:
        """True if switches compute rates and send them to its NICs."""
        return self.control is not None and NIC_CONTROLS[self.control].wants_fair_rates

    @property
    def packets(self) -> Packets | None:
        """Return its full packets; None: those of the network's MTU."""
        return BASES[self.base].packets

    @property
    def wants_marks(self) -> bool:
        """True if switches mark its packets independent of its features."""
        return BASES[self.base].wants_marks

    @property
    def has_pauses(self) -> bool:
        """True if switches and NICs pause each other, so that the network loses none of its packets."""
        return PAUSING in self.features

    @property
    def is_sprayed(self) -> bool:
        """True if each packet takes its own path."""
        return BASES[self.base].is_sprayed or SPRAYING in self.features

    @property
    def wants_curve(self) -> bool:
        """True if switches mark its packets from a share of the bandwidth-delay product on."""
        return BASES[self.base].wants_curve

    @property
    def has_credits(self) -> bool:
        """True if receivers grant credit, so that marks at the last hop mean nothing."""
        return CREDITS in self.features or self.receiver_control is not None

    @property
    def receiver_control(self) -> str | None:
        """Return the plug-in's control that grants credit at receivers, if any."""
        return next((name for name in self.features if name in RECEIVER_CONTROLS), None)

    @property
    def has_marked_control(self) -> bool:
        """True if switches mark packets for a control in its NIC."""
        return self.control is not None and NIC_CONTROLS[self.control].wants_marks

    @property
    def wants_telemetry(self) -> bool:
        """True if switches write telemetry into its packets."""
        return self.control is not None and NIC_CONTROLS[self.control].wants_telemetry

    @property
    def outside(self) -> "tuple[str, str] | None":
        """Return the name and kind of a plug-in's control in NICs or at receivers, if any."""
        if self.receiver_control is not None:
            return self.receiver_control, RECEIVER_CONTROLS[self.receiver_control].made_as
        controls = ((name, NIC_CONTROLS[name].made_as) for name in self.features if name in NIC_CONTROLS)
        return next(((name, made_as) for name, made_as in controls if made_as is not None), None)

    def carried(self, verb: "Verb") -> "Verb":
        """Return the verb that moves the bytes: the requested one, or a WRITE of the same direction."""
        return verb if verb in VERBS[self.service] and not BASES[self.base].is_write_only else "write"

    def __str__(self) -> str:
        return "+".join((self.base, *self.features))


NIC_CONTROLS: Final[dict[str, ControlFeature]] = {
    "dcqcn": ControlFeature("DCQCN in the NIC, marking in the switches", title="DCQCN", wants_marks=True),
    "timely": ControlFeature("TIMELY in the NIC", title="TIMELY"),
    "timely-patched": ControlFeature("TIMELY with its published repair, in the NIC", title="patched TIMELY"),
    "rocc": ControlFeature(
        "RoCC: the switch computes a rate, the NIC obeys", title="RoCC", wants_fair_rates=True
    ),
    "hpcc": ControlFeature(
        "HPCC: telemetry in the packets, window in the NIC", wants_telemetry=True, title="HPCC"
    ),
    "swift": ControlFeature("Swift in the NIC: a window by delay, also below one packet", title="Swift"),
    "powertcp": ControlFeature(
        "PowerTCP: telemetry in the packets, window in the NIC", wants_telemetry=True, title="PowerTCP"
    ),
    "theta-powertcp": ControlFeature("PowerTCP by round-trip times, without telemetry", title="θ-PowerTCP"),
}
"""Controls of the engine, each by its name in `simulator/cpp/cc/registry.h`; plug-ins add to them."""
RECEIVER_CONTROLS: Final[dict[str, ReceiverControlEntry]] = {}
"""Controls that grant credit at receivers instead of `rccc`; plug-ins add to it."""
PAUSING: Final = "pfc"
SPRAYING: Final = "spray"
CREDITS: Final = "rccc"
FEATURES: Final[dict[str, str]] = {
    PAUSING: "priority flow control on every link",
    **{name: control.meaning for name, control in NIC_CONTROLS.items()},
    SPRAYING: "packet spraying: each packet takes one of the equal paths, independent of the others",
    CREDITS: "credits of receivers (RCCC), for uet: a host grants what its link can carry",
}
ALL_FEATURES: Final = tuple(name for name in FEATURES if name != CREDITS)
"""Features of any NIC."""

_BY_UC: Final = "UC gives up a message whose packets come out of order"
_BY_TCP: Final = "a TCP treats reordered segments as lost"

BASES: Final[dict[str, Base]] = {
    "rogue": Base(
        "rc",
        "the RoGUE agent over reliable connections",
        ("pfc",),
        single_path_reason="its window and its base round trip are those of one path",
    ),
    "rogue-uc": Base(
        "uc", "the RoGUE agent over unreliable connections", ("pfc",), single_path_reason=_BY_UC
    ),
    "roce": Base("rc", "the NIC alone over reliable connections, 1 MiB verbs", ALL_FEATURES),
    "roce-uc": Base(
        "uc",
        "the NIC alone over unreliable connections, 1 MiB verbs",
        ("pfc", "dcqcn", "rocc"),
        single_path_reason=_BY_UC,
    ),
    "irn": Base(
        "rc", "IRN: selective repeat and a cap on packets in flight", ALL_FEATURES, True, recovery="irn"
    ),
    "irn-gbn": Base("rc", "IRN with go-back-N", ALL_FEATURES, True, recovery="irn-gbn"),
    "irn-nobdp": Base(
        "rc",
        "IRN without its cap on packets in flight",
        ALL_FEATURES,
        True,
        recovery="irn",
        recovery_values=(("cap_packets", 0),),
    ),
    "roce-lossy": Base(
        "rc", "go-back-N with a fixed timeout, never giving up", ALL_FEATURES, True, recovery="go-back-n"
    ),
    "roce-go-back-0": Base(
        "rc", "a loss repeats the whole message, as in early NICs", (), True, recovery="go-back-0"
    ),
    "resilient_roce": Base(
        "rc",
        "go-back-N and DCQCN without flow control",
        (),
        True,
        control="dcqcn",
        recovery="go-back-n",
    ),
    "uet": Base(
        "rc",
        "Ultra Ethernet: selective acknowledgements, NSCC and packet spraying",
        (CREDITS,),
        True,
        single_path_reason="it spreads its packets itself: see its load_balancing",
        is_sprayed=True,
        wants_curve=True,
        recovery="uet",
    ),
    "dctcp": Base(
        "tcp",
        "TCP with DCTCP congestion control",
        packets=TCP_SEGMENTS,
        is_in_kernels=True,
        wants_marks=True,
        single_path_reason=_BY_TCP,
    ),
    "cubic": Base(
        "tcp",
        "TCP with CUBIC congestion control",
        packets=TCP_SEGMENTS,
        is_in_kernels=True,
        single_path_reason=_BY_TCP,
    ),
    "reno": Base(
        "tcp",
        "TCP with Reno congestion control",
        packets=TCP_SEGMENTS,
        is_in_kernels=True,
        single_path_reason=_BY_TCP,
    ),
    "iwarp": Base("tcp", "RDMA over a TCP in the NIC", packets=IWARP_SEGMENTS, single_path_reason=_BY_TCP),
}


class TransportNameError(ValueError):
    """A transport name is invalid; the text has the valid ones."""

    def __init__(self, expected: str) -> None:
        super().__init__(f"expected {expected}")
        self.expected = expected


def parse_transport(name: str) -> TransportName:
    """Parse a transport's name: ``roce+pfc+dcqcn``."""
    base, *features = name.split("+")
    if base not in BASES:
        raise TransportNameError(f"one of {', '.join(BASES)}")
    allowed = BASES[base].allowed
    _refuse_spraying(base, features)
    for feature in features:
        if feature not in allowed:
            known = f"{base} or {base} with {', '.join('+' + word for word in allowed)}" if allowed else base
            raise TransportNameError(known)
    if len(set(features)) != len(features):
        raise TransportNameError("each feature once")
    for among in (NIC_CONTROLS, (CREDITS, *RECEIVER_CONTROLS)):
        if len(set(features) & set(among)) > 1:
            raise TransportNameError(f"at most one of {', '.join(among)}")
    return TransportName(base, tuple(features))


def _refuse_spraying(base: str, features: list[str]) -> None:
    """Raise TransportNameError with the reason if packets must keep one path."""
    if SPRAYING not in features:
        return
    reasons = {base: BASES[base].single_path_reason}
    reasons |= {
        f"{base}+{name}": NIC_CONTROLS[name].single_path_reason for name in features if name in NIC_CONTROLS
    }
    for name, reason in reasons.items():
        if reason is not None:
            raise TransportNameError(f"{name} without +{SPRAYING}, because {reason}")


def full_packets(
    transport: TransportName, beside: Collection[TransportName], framing: Framing, mtu_bytes: int
) -> Packets:
    """Return the full packets of a transport in a network that it shares with others.

    A TCP has its own packets. If any transport needs telemetry, all other packets have room for it.
    """
    if transport.packets is not None:
        return transport.packets
    has_telemetry = any(each.wants_telemetry for each in (transport, *beside))
    return Packets(with_telemetry(framing) if has_telemetry else framing, mtu_bytes)
