"""Machines for the tests marked `virtual`: booted once, only when asked for by `-m virtual`.

Two sets are lent to all tests: `machines`, a pair with a cable, and `racks`, a network. Files run in order
of their names: those that want the network as it boots come before those that want it provisioned, and
`test_teardown.py` ends it. What needs machines in another state boots its own, as few as it can.

What a change of ours can break is asked each time, once and as small as it can be. Marked long is what
changes with the kernel alone, what needs many repetitions, and each blow and each role by itself.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.plugin_files import EVERYWHERE, SWIFT
from helpers.real_rogue import call
from helpers.running_machines import RunningMachines, pair, running

from rogue.virtual import persistent, prerequisites
from rogue.virtual.errors import PrerequisiteError
from rogue.virtual.image.build import Image, cache_directory, obtain
from rogue.virtual.machines.assembly import Accelerator, choose


def tell(text: str) -> None:
    """Show progress with `pytest -s`."""
    sys.stderr.write(f"{text}\n")


@pytest.fixture(scope="session")
def image(request: pytest.FixtureRequest) -> Image:
    """Return the Debian image; skip without `-m virtual`, fail without QEMU if it is required."""
    if "virtual" not in request.config.option.markexpr:
        pytest.skip("boots virtual machines; run `make test-virtual`")
    try:
        prerequisites.require(prerequisites.MACHINES)
    except PrerequisiteError as error:
        if "qemu" in os.environ.get("REQUIRE", "").split(","):
            pytest.fail(str(error), pytrace=False)
        pytest.skip(str(error))
    return obtain(cache_directory(), tell)


@pytest.fixture(scope="session")
def accelerator(image: Image) -> Accelerator:
    """Return the accelerator of this host."""
    return choose(image, cache_directory(), tell)


@pytest.fixture(scope="session")
def state_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Make a state directory for testbeds; take down the testbeds that tests leave up."""
    with pytest.MonkeyPatch.context() as patch:
        home = tmp_path_factory.mktemp("state")
        patch.setenv("XDG_STATE_HOME", str(home))
        yield home
        for name in persistent.names():
            persistent.down(name, tell)


@pytest.fixture(scope="session")
def machines(image: Image, accelerator: Accelerator) -> Iterator[RunningMachines]:
    """Boot two machines whose experiment NICs are joined."""
    with running(pair(), image, accelerator, tell) as started:
        yield started


@pytest.fixture(scope="session")
def racks(state_home: Path, image: Image, accelerator: Accelerator) -> Iterator[persistent.PersistentTestbed]:
    """A testbed that stays up: two hosts below one switch, and one below another.

    As few as tests can do with: an emulated host takes seconds of a processor for each task of a playbook.
    """
    call("testbed", "up", str(EVERYWHERE), "--name", "racks")
    yield persistent.find("racks")
    persistent.down("racks", tell)


@pytest.fixture(scope="session")
def provisioned(racks: persistent.PersistentTestbed) -> persistent.PersistentTestbed:
    """Provision `racks`, with agents that have the plug-in."""
    call("provision", f"virtual:{racks.name}", "--plugin", str(SWIFT))
    return racks
