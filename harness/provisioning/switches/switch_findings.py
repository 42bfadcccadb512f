"""What the doctor has to say about hardware switches: that they do what the inventory says, or where not."""

from rogue.harness.provisioning.findings import Finding, finding_of
from rogue.harness.provisioning.inventory import HardwareSwitch, Inventory
from rogue.harness.provisioning.switches.operations import differences, open_switch
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
        said = str(error).removeprefix(f"{switch.name}: ")
        return [finding_of(switch.name, "the switch", said, "check that SSH reaches it")]
    words = (sentence.removeprefix(f"{switch.name}: ") for sentence in told)
    return [finding_of(switch.name, "its configuration", each, _ADVICE) for each in words]
