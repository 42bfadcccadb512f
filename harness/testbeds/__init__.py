"""The places an experiment can run."""

from typing import Final

from harness.errors import UsageError
from harness.testbeds.base import Testbed
from harness.testbeds.simulator import SimulatorTestbed

TESTBEDS: Final[dict[str, type[Testbed]]] = {
    "simulator": SimulatorTestbed,
}


def find_testbed(name: str) -> Testbed:
    """The testbed of that name."""
    if name not in TESTBEDS:
        raise UsageError(
            f"--testbed: got {name!r}, expected one of {', '.join(TESTBEDS)}; choose one of them."
        )
    return TESTBEDS[name]()
