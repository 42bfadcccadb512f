"""`rogue sign`, and what `rogue verify --signer` asks: signatures of OpenSSH over a run's manifest.

The manifest has the checksums of all files, so that its signature is one of the run.
Source: ssh-keygen(1), -Y sign and -Y verify.
"""

import subprocess
from pathlib import Path
from typing import Final

import typer

from rogue.harness.errors import DamagedRunError, UsageError
from rogue.harness.exit_codes import ExitCode
from rogue.harness.results.manifest import read_sound_manifest
from rogue.harness.results.run_directory import SIGNATURE
from rogue.remote.home import at_home
from rogue.reports.reading.files import read_regular, write_new
from rogue.workloads.manifest import MANIFEST

NAMESPACE: Final = "rogue-run"
"""What these signatures are for: one over something else is none over a run."""
_TIME_LIMIT_S: Final = 120.0
_SIGNATURE_BYTES_MAX: Final = 100_000


def sign_run(run: Path, key: Path) -> ExitCode:
    """Leave a signature over the manifest in the run."""
    read_sound_manifest(run)
    content = read_regular(run / MANIFEST)
    done = _ssh_keygen(["sign", "-f", str(at_home(key)), "-n", NAMESPACE], content)
    if done.returncode != 0:
        raise UsageError(f"sign: ssh-keygen cannot sign with {key}: {_words(done)}")
    write_new(run / SIGNATURE, done.stdout)
    typer.echo(run / SIGNATURE)
    return ExitCode.OK


def check_signature(run: Path, signer: str, allowed: Path) -> None:
    """DamagedRunError unless the manifest is signed by this signer, whose key stands in `allowed`."""
    signers = at_home(allowed)
    if not signers.is_file():
        expected = "a file of allowed signers, as ssh-keygen(1) describes it"
        raise UsageError(f"verify: got no {allowed}, expected {expected}; name one with --allowed-signers.")
    try:
        read_regular(run / SIGNATURE, _SIGNATURE_BYTES_MAX)
    except OSError as error:
        text = f"{run / SIGNATURE}: {error.strerror}; `rogue sign` makes a signature."
        raise DamagedRunError(text) from error
    words = ["verify", "-f", str(signers), "-I", signer, "-n", NAMESPACE, "-s", str(run / SIGNATURE)]
    done = _ssh_keygen(words, read_regular(run / MANIFEST))
    if done.returncode != 0:
        raise DamagedRunError(f"{run}: the manifest is not signed by {signer}: {_words(done)}")


def _ssh_keygen(words: list[str], content: bytes) -> "subprocess.CompletedProcess[bytes]":
    try:
        return subprocess.run(
            ["ssh-keygen", "-Y", *words],
            input=content,
            capture_output=True,
            timeout=_TIME_LIMIT_S,
            check=False,
        )
    except FileNotFoundError:
        raise UsageError("ssh-keygen is not installed here; apt-get install openssh-client") from None
    except subprocess.TimeoutExpired:
        raise UsageError(f"ssh-keygen did not end within {_TIME_LIMIT_S:.0f} s") from None


def _words(done: "subprocess.CompletedProcess[bytes]") -> str:
    return " ".join((done.stderr + done.stdout).decode(errors="replace").split())
