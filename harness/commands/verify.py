"""Verify runs and sign their manifests."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from rogue.harness.commands import completion
from rogue.harness.commands.options import RunDirectory
from rogue.harness.errors import DamagedRunError, ExitCode, HarnessError, UsageError
from rogue.harness.terminal import notify
from rogue.remote.destination import at_home
from rogue.workloads.printable import printable

if TYPE_CHECKING:
    from rogue.harness.results.verification import Comparison
    from rogue.workloads.manifest import Manifest


def verify(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN...", help="Directories of runs.", autocompletion=completion.runs),
    ],
    signer: Annotated[
        str | None, typer.Option(metavar="NAME", help="Who must have signed the manifest.")
    ] = None,
    allowed: Annotated[
        Path,
        typer.Option("--allowed-signers", metavar="FILE", help="Whose keys are whose (ssh-keygen(1))."),
    ] = Path("~/.ssh/allowed_signers"),
) -> ExitCode:
    """Compare every file of runs with the checksums in their manifests, and these with who signed them.

    Says what differs, and one line for each run; the exit code is that of the worst.

    \b
      rogue verify results/quickstart/20261120T101500Z-3f9a1c
      rogue verify results/quickstart/*
      rogue verify results/quickstart/20261120T101500Z-3f9a1c --signer alice@example.org
    """
    return verify_runs(runs, signer, allowed)


def sign(
    run: RunDirectory,
    key: Annotated[
        Path, typer.Option(metavar="FILE", help="An SSH key: private, or public with its agent.")
    ] = Path("~/.ssh/id_ed25519"),
) -> ExitCode:
    """Sign a run's manifest with an SSH key, so that others can verify whose it is.

    The signature is manifest.json.sig in the run. A report that is built again makes it invalid.

    \b
      rogue sign results/quickstart/20261120T101500Z-3f9a1c
    """
    return sign_run(run, key)


NAMESPACE: Final = "rogue-run"
"""What these signatures are for: one over something else is none over a run."""
_TIME_LIMIT_S: Final = 120.0
_SIGNATURE_BYTES_MAX: Final = 100_000


def sign_run(run: Path, key: Path) -> ExitCode:
    """Leave a signature over the manifest in the run."""
    from rogue.harness.results.manifest import read_sound_manifest
    from rogue.harness.results.run_directory import SIGNATURE
    from rogue.reports.reading.files import read_regular, write_new
    from rogue.workloads.manifest import MANIFEST

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
    from rogue.harness.results.run_directory import SIGNATURE
    from rogue.reports.reading.files import read_regular
    from rogue.workloads.manifest import MANIFEST

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


def _ssh_keygen(words: list[str], content: bytes) -> subprocess.CompletedProcess[bytes]:
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


def _words(done: subprocess.CompletedProcess[bytes]) -> str:
    return " ".join((done.stderr + done.stdout).decode(errors="replace").split())


SHOWN_MAX: Final = 100
"""Lines about one run of one kind; the rest is counted."""
LEFT: Final = "left by a write that was stopped; it is no part of the run and may be deleted"
LINK: Final = "a link; what it leads to is as in the manifest, and stands outside of what was verified"
NO_CHECKSUM: Final = (
    "the manifest is of a version that wrote no checksum of it, so that a change of it is not seen"
)


def verify_runs(runs: Sequence[Path], signer: str | None = None, allowed: Path | None = None) -> ExitCode:
    """Verify each run and say what came of it in a line; the worst code is that of the command."""
    codes = [ExitCode.OK]
    for run in dict.fromkeys(runs):
        try:
            codes.append(verify_run(run, signer, allowed))
        except HarnessError as error:
            notify(*error.lines)
            codes.append(error.exit_code)
        except OSError as error:
            notify(f"{error.filename or run}: {error.strerror or error}.")
            codes.append(ExitCode.STORAGE)
    return max(codes)


def verify_run(run: Path, signer: str | None = None, allowed: Path | None = None) -> ExitCode:
    """Compare a run with its manifest; print each difference, and who signed it if that is asked."""
    from rogue.harness.results.manifest import read_manifest
    from rogue.harness.results.recorded_run import present_manifest
    from rogue.harness.results.run_directory import is_locked
    from rogue.harness.results.verification import compare_run
    from rogue.workloads.manifest import Soundness

    is_going = is_locked(run)
    manifest = read_manifest(run)
    if manifest.status == "running":  # or killed: its last cells are in no manifest yet
        manifest = present_manifest(run)
    compared = compare_run(run, manifest)
    differences = _differences(compared, is_going=is_going)
    _show(run, differences)
    _show(run, [f"{printable(path)}: {LEFT}" for path in sorted(compared.leftovers) if not is_going])
    _show(run, [f"{printable(path)}: {LINK}" for path in sorted(compared.links)])
    if manifest.soundness is Soundness.UNKNOWN:
        typer.echo(printable(f"{run}: {NO_CHECKSUM}"))
    if differences:
        counted = f"{len(differences)} difference{'s' * (len(differences) != 1)}"
        notify(f"{run}: {counted} from the manifest.")
        return ExitCode.DAMAGED
    typer.echo(printable(_result(run, manifest, is_going=is_going)))
    if signer is not None and allowed is not None:
        check_signature(run, signer, allowed)
        typer.echo(printable(f"{run}: the manifest is signed by {signer}"))
    return ExitCode.OK


def _differences(compared: Comparison, *, is_going: bool) -> list[str]:
    """Return what is damage: of a run that is going, what it writes meanwhile is none."""
    return [str(each) for each in compared.differences if not (is_going and each.is_unlisted)]


def _result(run: Path, manifest: Manifest, *, is_going: bool) -> str:
    so_far = " so far; another process works on this run" if is_going else ""
    return f"{run}: {len(manifest.files)} files as in the manifest{so_far}"


def _show(run: Path, lines: Sequence[str]) -> None:
    for line in lines[:SHOWN_MAX]:
        typer.echo(printable(f"{run}/{line}"))
    if len(lines) > SHOWN_MAX:
        typer.echo(printable(f"{run}: ... and {len(lines) - SHOWN_MAX} more"))
