"""What the doctor measures between hosts, over one connection to each."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager

from rogue.harness.provisioning.findings import Facts, Finding
from rogue.harness.provisioning.inventory import Inventory
from rogue.harness.provisioning.open_shells import open_shells
from rogue.harness.provisioning.roce_marks import measure_roce_marks
from rogue.harness.provisioning.switches.marks import measure_marks
from rogue.harness.provisioning.transfers import measure_transfers
from rogue.remote.login import Login
from rogue.remote.shell import Shell, connect


def measure(
    inventory: Inventory,
    facts: Mapping[str, Facts],
    open_shell: Callable[[Login], AbstractContextManager[Shell]] = connect,
) -> list[Finding]:
    """Transfers between cards, and marks by hardware switches; nobody logs in where there is neither."""
    has_cards = any(host.variables.rdma_device_kind == "card" for host in inventory.hosts)
    has_marks = any(switch.variables.marking for switch in inventory.hardware_switches)
    if not (has_cards or has_marks):
        return []
    with open_shells((host.login for host in inventory.hosts), open_shell) as shells:
        found = [*shells.findings, *measure_transfers(inventory, facts, shells.by_node)]
        if not shells.findings:
            found += measure_marks(inventory, facts, shells.by_node)
        if not any(each.refuses for each in found):  # where the switch marks nothing, RoCE says no more
            found += measure_roce_marks(inventory, facts, shells.by_node)
        return found
