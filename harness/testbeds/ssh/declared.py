"""What the inventory says of hardware switches: this project sets them, or somebody else declares them."""

from rogue.harness.cell.cell import Cell
from rogue.harness.provisioning.inventory import Inventory
from rogue.harness.provisioning.switches.settings import PrioritySettings
from rogue.harness.testbeds.base import Fact


def unmarked(cell: Cell, inventory: Inventory) -> str | None:
    """The reason why a transport that needs marks gets none; None if it gets them or needs none."""
    if inventory.switch is not None:
        return None
    wanting = next((group.transport for group in cell.groups if group.transport.wants_marks), None)
    if wanting is None:
        return None
    return missing_on_switches(cell, inventory, str(wanting), "marks")


def missing_on_switches(cell: Cell, inventory: Inventory, transport: str, what: str) -> str | None:
    """The reason why a transport misses marks or pauses on some switch; None if no switch misses them.

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
    """The manifest's facts about each switch: who set it, and what it marks and pauses."""
    return {
        f"switch_{switch.name}": (
            f"{'declared' if switch.login is None else switch.variables.switch_platform}: {switch.variables}"
        )
        for switch in inventory.hardware_switches
    }
