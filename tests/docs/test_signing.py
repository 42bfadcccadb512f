"""The commands of ARTIFACT.md sign a run and check the signature, with the real ssh-keygen."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from helpers.small_runs import cell_record, manifest_of

from rogue.harness.commands.verify import verify_run
from rogue.harness.errors import ExitCode
from rogue.harness.results.run_directory import CELLS, write_manifest
from rogue.workloads.manifest import MANIFEST

pytestmark = pytest.mark.needs("ssh-keygen")
PAGE = (Path(__file__).parents[2] / "ARTIFACT.md").read_text()
SIGN, CHECK = re.findall(r"```sh\n(.*?)```", PAGE.partition("## Sign a run\n")[2], re.DOTALL)[:2]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a run, the keys of alice, and a home whose key is hers."""
    (tmp_path / "RUN" / CELLS).mkdir(parents=True)
    write_manifest(tmp_path / "RUN", manifest_of([cell_record()], status="complete"))
    (tmp_path / ".ssh").mkdir()
    key = tmp_path / ".ssh/id_ed25519"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    shutil.copy(key.with_suffix(".pub"), tmp_path / "alice.pub")
    return tmp_path


def run(place: Path, commands: str) -> "subprocess.CompletedProcess[str]":
    """Run the commands of the page, all but those of `rogue`."""
    lines = [line for line in commands.splitlines() if not line.startswith(".venv/bin/rogue")]
    home = os.environ | {"HOME": str(place)}
    text = "\n".join(lines).replace("~", str(place))
    return subprocess.run(
        ["sh", "-ec", text], cwd=place, env=home, capture_output=True, text=True, check=False
    )


def test_a_signed_run_has_the_authors_signature_and_verifies(place: Path) -> None:
    assert run(place, SIGN).returncode == 0
    done = run(place, CHECK)
    assert (done.returncode, "Good" in done.stdout) == (0, True), done.stderr
    assert verify_run(place / "RUN") is ExitCode.OK, "the signature is no file of the run"


def test_a_changed_manifest_or_another_key_fails(place: Path) -> None:
    assert run(place, SIGN).returncode == 0
    with (place / "RUN" / MANIFEST).open("a") as stream:
        stream.write(" ")
    assert run(place, CHECK).returncode != 0
    other = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", place / "mallory"]
    subprocess.run(other, check=True)
    (place / "RUN" / f"{MANIFEST}.sig").unlink()
    assert run(place, SIGN.replace("~/.ssh/id_ed25519", "mallory")).returncode == 0
    assert run(place, CHECK).returncode != 0
