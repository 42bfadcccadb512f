"""The places an experiment can run."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rogue.harness.errors import StoppedError, UsageError
from rogue.harness.provisioning.named_inventory import VIRTUAL, inventory_file_of, is_virtual
from rogue.remote.errors import NodeError
from rogue.workloads.printable import did_you_mean

if TYPE_CHECKING:
    from rogue.harness.testbeds.base import Testbed

_LOGGER: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """Makes a testbed of a module or folder beside this file, which is imported only then."""

    module: str
    kind: str
    """The name of its class there."""

    def __call__(self, *arguments: object, **options: object) -> "Testbed":
        """Return a new testbed."""
        kind = getattr(import_module(f"{__name__}.{self.module}"), self.kind)
        _LOGGER.debug("uses testbed %s", kind.__module__)
        testbed: Testbed = kind(*arguments, **options)
        return testbed


TESTBEDS: Final[dict[str, "Callable[[], Testbed]"]] = {
    "simulator": BuiltIn("simulator", "SimulatorTestbed"),
    "kernel": BuiltIn("kernel", "KernelTestbed"),
}
"""Those that need no inventory; the command line completes their names."""

_NODES: Final = BuiltIn("ssh", "SshTestbed")
DEFAULT_TESTBED: Final = "simulator"


def known_testbeds() -> tuple[str, ...]:
    """Return every name of a testbed that is not the file of an inventory."""
    return (*TESTBEDS, VIRTUAL)


def find_testbed(name: str, *, is_trusted: bool = False) -> "Testbed":
    """Return the testbed of that name: a registered one, a virtual one that is up, or an inventory's nodes.

    `is_trusted` allows an inventory that is a program. UsageError: there is no such testbed.
    """
    if name in TESTBEDS:
        return TESTBEDS[name]()
    if not is_virtual(name) and not Path(name).is_file():
        known = known_testbeds()
        expected = f"{', '.join(known)}, or the file of an inventory"
        raise UsageError(f"--testbed: got {name!r}, expected {expected}; {did_you_mean(name, known)}.")
    return _NODES(name, inventory_file_of(name), is_trusted=is_trusted)


def ready_testbed(name: str, dask: str | None, *, is_trusted: bool, command: str = "run") -> "Testbed":
    """Return a testbed that can measure; NodeError says what prevents that.

    dask: address of a scheduler, for which the testbed must need processors alone.
    is_trusted: a person has said that the inventory may be a program.
    """
    testbed = find_testbed(name, is_trusted=is_trusted)
    if dask is not None and testbed.jobs_max is not None:
        expected = "a testbed whose cells need nothing but a processor"
        raise UsageError(f"--dask: got --testbed {name}, expected {expected}; leave --dask out.")
    try:
        obstacles = testbed.obstacles()
    except KeyboardInterrupt as stop:
        raise StoppedError("stopped; nothing was run.", stop) from stop
    if obstacles:
        lines = [f"{command}: {name} cannot measure, so nothing was run:", *obstacles]
        raise NodeError("\n  ".join(lines))
    return testbed
