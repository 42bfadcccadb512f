"""What the doctor has to say about hardware switches: that they do what the inventory says, or where not."""

from rogue.harness.provisioning.findings import Finding
from rogue.harness.provisioning.inventory import HardwareSwitch, Inventory
from rogue.harness.provisioning.switches.connection import open_switch
from rogue.harness.provisioning.switches.operations import differences
from rogue.remote.errors import NodeError

_ADVICE = "run `rogue switch apply`, or declare what the switch does"


def switch_findings(inventory: Inventory) -> list[Finding]:
    """One for each difference; a switch that cannot be asked is one, too. Declared switches are believed.

    A switch that follows experiments is compared with the cells of one.
    """
    return [
        finding
        for switch in inventory.hardware_switches
        if switch.login is not None and not switch.variables.switch_follows_experiments
        for finding in _of_switch(switch)
    ]


def _of_switch(switch: HardwareSwitch) -> list[Finding]:
    try:
        with open_switch(switch) as opened:
            told = differences(opened, switch.variables)
    except NodeError as error:
        words = str(error).removeprefix(f"{switch.name}: ")
        got, is_said, rest = words.removeprefix("got ").partition(", expected ")
        if is_said and words.startswith("got "):
            expected, _, advice = rest.partition("; ")
            return [Finding(switch.name, "the switch", got, expected, advice or _ADVICE)]
        return [Finding(switch.name, "the switch", words, "a reply", "check that SSH reaches it")]
    found = []
    for sentence in told:
        place, _, words = sentence.removeprefix(f"{switch.name}: ").rpartition("got ")
        got, _, expected = words.partition(", expected ")
        found.append(Finding(switch.name, place.rstrip(": ") or "its configuration", got, expected, _ADVICE))
    return found
