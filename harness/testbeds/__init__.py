"""The places an experiment can run."""

from pathlib import Path
from typing import Final

from rogue.harness.errors import UsageError
from rogue.harness.provisioning.inventory_file import VIRTUAL, inventory_of, is_virtual
from rogue.harness.testbeds.base import Testbed
from rogue.harness.testbeds.kernel import KernelTestbed
from rogue.harness.testbeds.simulator import SimulatorTestbed
from rogue.workloads.spelling import meant

TESTBEDS: Final[dict[str, type[Testbed]]] = {
    "simulator": SimulatorTestbed,
    "kernel": KernelTestbed,
}


def find_testbed(name: str, *, is_trusted: bool = False) -> Testbed:
    """The testbed of that name: `simulator`, a virtual one that is up, or the nodes of an inventory.

    is_trusted: a person has said that the inventory may be a program.
    """
    if name in TESTBEDS:
        return TESTBEDS[name]()
    if not is_virtual(name) and not Path(name).is_file():
        known = [*TESTBEDS, VIRTUAL]
        expected = f"{', '.join(known)}, or the file of an inventory"
        raise UsageError(f"--testbed: got {name!r}, expected {expected}; {meant(name, known)}.")
    from rogue.harness.testbeds.ssh import SshTestbed

    return SshTestbed(name, inventory_of(name), is_trusted=is_trusted)
