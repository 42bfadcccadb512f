"""Compare what a cell requests with what the inventory declares."""

from collections.abc import Iterator, Mapping
from typing import Final

from rogue.harness.cell.cell import Cell
from rogue.harness.cell.marking import MARK_ABOVE, MarkingCurve
from rogue.harness.cell.network import Pauses
from rogue.harness.cell.transport import as_written
from rogue.harness.provisioning.inventory import Inventory
from rogue.harness.provisioning.switches.settings import HardwareSwitch, Marking, PrioritySettings
from rogue.harness.testbeds.base import Fact
from rogue.workloads.topologies import Topology
from rogue.workloads.transports import TransportName

PAUSE_POINTS: Final = ("pause_alpha", "pause_xoff", "pause_watchdog")
"""Keys of a topology that say when a switch pauses, or gives up; an inventory may say `pause_alpha`."""


def why_switches_mismatch(cell: Cell, inventory: Inventory) -> str | None:
    """Return why the declared switches do not suit a cell; None if they do, or may differ."""
    return (
        _refused_marks(cell, inventory)
        or _other_pause_point(cell, inventory)
        or _other_headroom(cell, inventory)
    )


def allowed_differences(cell: Cell, inventory: Inventory) -> dict[str, str]:
    """Return what may differ or is unknown: a sentence each, by the name of its fact."""
    marks = [sentence for switch, _, sentence in _other_marks(cell, inventory) if _may_mark_otherwise(switch)]
    found = {"marks_differ": "; ".join(dict.fromkeys(marks))} if marks else {}
    if (unknown := _unknown_pause_point(cell, inventory)) is not None:
        found["pauses_differ"] = unknown
    return found


def stated_pause_points(topology: Topology) -> list[str]:
    """Return the keys of pause points with values other than the defaults."""
    stated, fields = topology.model_dump(by_alias=True), type(topology).model_fields.values()
    usual = {str(field.alias): field.default for field in fields}
    return [key for key in PAUSE_POINTS if stated[key] != usual[key]]


def _refused_marks(cell: Cell, inventory: Inventory) -> str | None:
    for switch, transport, sentence in _other_marks(cell, inventory):
        if not _may_mark_otherwise(switch):
            state = f"state {as_written(MARK_ABOVE)} in the experiment, " if transport.wants_marks else ""
            return (
                f"{sentence}: set that in switch_priorities, {state}or allow it by switch_may_differ: [marks]"
            )
    return None


def _other_marks(cell: Cell, inventory: Inventory) -> Iterator[tuple[HardwareSwitch, TransportName, str]]:
    """Yield each switch whose marking differs from the request, with a sentence."""
    for group in cell.groups:
        requested = group.settings.marking
        if requested is None:
            continue
        for switch in _switches(inventory):
            declared = (each.marks for each in _priorities(cell, inventory, switch) if each.marks is not None)
            for other in (each for each in declared if not is_same(as_marking(requested), each)):
                wanted = f"{group.transport} asks for a switch that {requested}"
                yield switch, group.transport, f"{wanted}, and by the inventory {switch.name} {other}"


def as_marking(curve: MarkingCurve) -> Marking:
    """Return a requested curve as marks of a hardware switch, without the checks of an inventory."""
    return Marking.model_construct(
        from_bytes=curve.kmin_bytes,
        to_bytes=curve.kmax_bytes,
        probability=curve.pmax,
        average_weight=curve.average_weight,
        drops_above=curve.drops_above,
    )


def requested_losses(cell: Cell, switch: HardwareSwitch) -> dict[str, int]:
    """Return by interface one in how many packets a cell loses there by their IP ID.

    Deviation: as at a Linux switch, what a host sends is lost only behind the first switch.
    """
    interfaces = {port.name: port.interface for port in switch.variables.switch_ports}
    return {
        interfaces[name]: loss.one_in
        for link, losses in cell.network.losses.items()
        for loss in losses
        for name in link.ports
        if loss.model == "identification" and loss.one_in and name in interfaces
    }


def unsupported_losses(cell: Cell, inventory: Inventory) -> str | None:
    """Return why hardware switches do not lose what a cell asks for; None if they do."""
    switches = inventory.hardware_switches
    if (mistake := _unsupported_loss(cell, switches)) is not None:
        return mistake
    requested = {switch.name: requested_losses(cell, switch) for switch in switches}
    for switch in switches:
        stated = dict(switch.variables.switch_loses_one_in)
        if requested[switch.name] != stated:
            wanted, has = (_lost(each) for each in (requested[switch.name], stated))
            return (
                f"the experiment asks for {wanted} at {switch.name}, and by the inventory it has {has}: "
                "write that in switch_loses_one_in, or switch_follows_experiments: true"
            )
        if stated and {"marks", "pauses"} & set(switch.variables.switch_may_differ):
            return (
                f"losses of {switch.name} are not checked with switch_may_differ: leave marks and pauses out"
            )
    return None


def _unsupported_loss(cell: Cell, switches: tuple[HardwareSwitch, ...]) -> str | None:
    """Return which loss no mask of the IP ID can make; None if all can be made."""
    losses = [loss for losses in cell.network.losses.values() for loss in losses if loss.mean_probability]
    if any(loss.model != "identification" for loss in losses):
        return "a hardware switch loses packets by their IP ID alone: write model: identification"
    if any(loss.from_ns or loss.until_ns is not None for loss in losses):
        return "a hardware switch loses packets from beginning to end: leave from and until out"
    ports = {port.name for switch in switches for port in switch.variables.switch_ports}
    for link, found in cell.network.losses.items():
        own = [loss for loss in found if loss.mean_probability]
        if own and not ports.intersection(link.ports):
            return f"no Loss on {link}: no port of hardware_switches leads over it; name it in switch_ports"
        if len(own) > 1:
            return f"{len(own)} losses on {link}: a hardware switch loses by one mask; leave one"
    return None


def _lost(one_in: Mapping[str, int]) -> str:
    found = [f"one in {number} lost at {interface}" for interface, number in sorted(one_in.items())]
    return ", ".join(found) or "no losses"


def is_same(requested: Marking, has: Marking) -> bool:
    """True if two markings agree; for a step the probability is ignored."""
    is_step = requested.from_bytes == requested.to_bytes
    return requested == (has.model_copy(update={"probability": requested.probability}) if is_step else has)


def _switches(inventory: Inventory) -> tuple[HardwareSwitch, ...]:
    return inventory.hardware_switches if inventory.switch is None else ()


def _priorities(cell: Cell, inventory: Inventory, switch: HardwareSwitch) -> list[PrioritySettings]:
    names = cell.topology.host_names()
    dscps = sorted({host.variables.dscp or 0 for host in inventory.hosts if host.name in names})
    found: list[PrioritySettings] = []
    for dscp in dscps:
        found += [each for each in switch.variables.of_dscp(dscp) if each not in found]
    return found


def _may_mark_otherwise(switch: HardwareSwitch) -> bool:
    return "marks" in switch.variables.switch_may_differ


def _pauses(cell: Cell) -> Pauses | None:
    return next(iter(cell.network.pausing.values()), None)


def _unknown_pause_point(cell: Cell, inventory: Inventory) -> str | None:
    """Return a sentence if the pause point of a switch is unknown; None if it is known or not needed."""
    pauses = _pauses(cell)
    if pauses is None or all(each.pause_alpha == pauses.alpha for _, each in _pausing(cell, inventory)):
        return None
    return (
        "no inventory says when a switch pauses; the experiment asks for a pause when what came over a "
        f"link is {pauses.alpha:g} times what is free of the buffer"
    )


def _other_pause_point(cell: Cell, inventory: Inventory) -> str | None:
    pauses, stated = _pauses(cell), stated_pause_points(cell.topology)
    if pauses is None or not _switches(inventory):
        return None
    unsaid = next((key for key in stated if key != "pause_alpha"), None)
    if unsaid is not None:
        return f"topology.{unsaid}: no inventory says when a switch pauses: leave it out"
    for switch, each in _pausing(cell, inventory):
        if stated and each.pause_alpha != pauses.alpha:
            point = "where it chooses" if each.pause_alpha is None else f"at {each.pause_alpha:g}"
            got = (
                f"topology.pause_alpha is {pauses.alpha:g}, and by the inventory {switch.name} pauses {point}"
            )
            return f"{got}: set pause_alpha in switch_priorities, or leave it out of the topology"
    return None


def _pausing(cell: Cell, inventory: Inventory) -> list[tuple[HardwareSwitch, PrioritySettings]]:
    return [
        (switch, each)
        for switch in _switches(inventory)
        for each in _priorities(cell, inventory, switch)
        if each.pauses
    ]


def _other_headroom(cell: Cell, inventory: Inventory) -> str | None:
    pauses = _pauses(cell)
    if pauses is None or pauses.headroom_bytes is None:
        return None
    for switch, each in _pausing(cell, inventory):
        if each.headroom_bytes != pauses.headroom_bytes:
            kept = "as much as it chooses" if each.headroom_bytes is None else f"{each.headroom_bytes} bytes"
            got = f"topology.pause_headroom is {pauses.headroom_bytes} bytes"
            says = f"by the inventory {switch.name} keeps {kept}"
            return f"{got}, and {says}: set headroom_bytes in switch_priorities, or leave pause_headroom out"
    return None


def why_unmarked(cell: Cell, inventory: Inventory) -> str | None:
    """Return why a transport that needs marks gets none; None if it gets them or needs none."""
    if inventory.switch is not None:
        return None
    wanting = next((group.transport for group in cell.groups if group.transport.wants_marks), None)
    if wanting is None:
        return None
    return missing_on_switches(cell, inventory, str(wanting), "marks")


def missing_on_switches(cell: Cell, inventory: Inventory, transport: str, what: str) -> str | None:
    """Return why a transport misses marks or pauses on some switch; None if no switch misses them.

    what: `marks` or `pauses`. Every host's packets must be in a priority that does this.
    """
    names = cell.topology.host_names()
    switches = inventory.hardware_switches
    if not switches:
        return (
            f"{transport} needs a switch that {what}, but the inventory declares none: add it "
            f"under hardware_switches, or leave {transport} out"
        )
    for switch in switches:
        if not (switch.variables.marking if what == "marks" else switch.variables.pausing):
            return (
                f"{transport} needs switches where some priority {what}, but by the inventory {switch.name} "
                f"has none: set it in switch_priorities, or leave {transport} out"
            )
        for host in (host for host in inventory.hosts if host.name in names):
            dscp = host.variables.dscp or 0
            if not any(_does(each, what) for each in switch.variables.of_dscp(dscp)):
                return (
                    f"{transport} needs switches where the priority of its packets {what}, but by the "
                    f"inventory those of {host.name}, with DSCP {dscp}, are in none that does on "
                    f"{switch.name}: add {dscp} to its dscp in switch_priorities, or leave {transport} out"
                )
    return None


def _does(settings: PrioritySettings, what: str) -> bool:
    return settings.marks is not None if what == "marks" else settings.pauses


def switch_facts(inventory: Inventory) -> dict[str, Fact]:
    """Return the manifest's facts about each switch: who set it, and what it marks and pauses."""
    return {
        f"switch_{switch.name}": (
            f"{'declared' if switch.login is None else switch.variables.platform_name}: {switch.variables}"
        )
        for switch in inventory.hardware_switches
    }
