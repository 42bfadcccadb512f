"""A folder outside the tree runs on virtual machines as it does everywhere else."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.outside import check, outside
from helpers.real_rogue import call

from rogue.virtual.image.cache import Image
from rogue.virtual.machines.qemu import Accelerator

pytestmark = pytest.mark.virtual

NAME = "outside"
INVENTORY = f"virtual:{NAME}"


@pytest.fixture(scope="module")
def experiment(
    state_home: Path, image: Image, accelerator: Accelerator, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """The experiment's own network, whose hosts have its control in their agents."""
    file = outside(tmp_path_factory.mktemp("outside"))
    call("testbed", "up", str(file), "--name", NAME)
    call("provision", INVENTORY, "--plugin", str(file.with_name("swift.py")))
    yield file
    call("testbed", "down", "--name", NAME)


def test_the_same_file_runs_on_machines(experiment: Path) -> None:
    out = experiment.with_name("results")
    printed = call("run", str(experiment), "--testbed", INVENTORY, "--out", str(out))
    run = Path(printed.splitlines()[-1])
    check(run)
    call("verify", str(run))
