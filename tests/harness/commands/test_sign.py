"""Signed runs: by the one whose key it is, over what is there, with OpenSSH alone."""

import subprocess
from pathlib import Path

import pytest
from helpers.tiny_run import cell, manifest

from rogue.harness.commands.verify import check_signature, sign_run, verify_run
from rogue.harness.errors import DamagedRunError, ExitCode, UsageError
from rogue.harness.results.manifest import write_manifest
from rogue.workloads.manifest import Manifest

pytestmark = pytest.mark.needs("ssh-keygen")


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("keys")
    for name in ("alice", "mallory"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(directory / name)]
        subprocess.run(command, check=True)
    public = (directory / "alice.pub").read_text()
    (directory / "allowed").write_text(f"alice@example.org {public}")
    return directory


@pytest.fixture
def run(tmp_path: Path) -> Path:
    write_manifest(tmp_path, Manifest.model_validate(manifest([cell()])))
    return tmp_path


def test_a_signed_run_is_the_signers(run: Path, keys: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sign_run(run, keys / "alice") is ExitCode.OK
    assert verify_run(run, "alice@example.org", keys / "allowed") is ExitCode.OK
    assert "signed by alice@example.org" in capsys.readouterr().out


def test_another_key_another_name_or_another_manifest_is_refused(run: Path, keys: Path) -> None:
    sign_run(run, keys / "mallory")
    with pytest.raises(DamagedRunError, match=r"not signed by alice@example\.org"):
        check_signature(run, "alice@example.org", keys / "allowed")
    sign_run(run, keys / "alice")
    with pytest.raises(DamagedRunError, match="not signed by mallory"):
        check_signature(run, "mallory", keys / "allowed")
    with (run / "manifest.json").open("a") as stream:
        stream.write(" ")
    with pytest.raises(DamagedRunError, match=r"not signed by alice@example\.org"):
        check_signature(run, "alice@example.org", keys / "allowed")


def test_a_run_without_a_signature_is_refused(run: Path, keys: Path) -> None:
    with pytest.raises(DamagedRunError, match=r"manifest\.json\.sig: No such file"):
        check_signature(run, "alice@example.org", keys / "allowed")


def test_keys_that_are_not_there_are_sentences(run: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="ssh-keygen cannot sign with"):
        sign_run(run, tmp_path / "none")
    with pytest.raises(UsageError, match="expected a file of allowed signers"):
        check_signature(run, "alice", tmp_path / "none")
