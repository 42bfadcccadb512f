"""Chooses KVM only where a machine really booted with it; /dev/kvm alone proves nothing."""

import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from rogue.virtual.errors import VirtualTestbedError
from rogue.virtual.image.cache import Image
from rogue.virtual.machines.process import MachineProcess
from rogue.virtual.machines.qemu import PROGRAM, Accelerator, Boot, base_command
from rogue.virtual.programs import run

VARIABLE: Final = "ROGUE_ACCELERATOR"
"""A variable of the environment that names one, so that nothing is probed."""
_KVM_DEVICE = Path("/dev/kvm")
_PROBE_TIMEOUT_S = 20.0
_PROBE_MEMORY_MIB = 256
_VERSION_TIMEOUT_S = 20.0
_VERDICTS = "kvm-verdicts.json"


def choose(image: Image, cache: Path, progress: Callable[[str], None]) -> Accelerator:
    """What the environment names; else probe once per image, kernel and QEMU, and keep the verdict."""
    if named := os.environ.get(VARIABLE):
        return _named(named)
    if not os.access(_KVM_DEVICE, os.R_OK | os.W_OK):
        return Accelerator.TCG
    circumstances = f"{image.digest} / {os.uname().release} / {_qemu_version()}"
    path = cache / _VERDICTS
    verdicts = _read_verdicts(path)
    if circumstances not in verdicts:
        progress("machines: trying whether KVM boots a kernel here")
        verdicts[circumstances] = _probe(image)
        path.write_text(json.dumps(verdicts, indent=1) + "\n")
        progress(f"machines: {verdicts[circumstances] or 'it does'}")
    return Accelerator.TCG if verdicts[circumstances] else Accelerator.KVM


def _named(name: str) -> Accelerator:
    try:
        return Accelerator(name)
    except ValueError:
        known = " or ".join(each.value for each in Accelerator)
        raise VirtualTestbedError(
            f"environment: got {VARIABLE}={name!r}, expected {known}; correct it, or unset it"
        ) from None


def _qemu_version() -> str:
    return run([PROGRAM, "--version"], timeout_s=_VERSION_TIMEOUT_S).splitlines()[0]


def _read_verdicts(path: Path) -> dict[str, str]:
    """Map circumstances to why KVM failed there ("" if it worked); a damaged file counts as no verdict."""
    try:
        verdicts = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return verdicts if isinstance(verdicts, dict) else {}


def _probe(image: Image) -> str:
    """Boot the kernel under KVM until its first program replies; say in one line why it did not."""
    with tempfile.TemporaryDirectory(prefix="rogue-probe-") as scratch:
        boot = Boot(image.kernel, image.initrd, extra_arguments="rogue.probe")
        command = base_command("probe", boot, Accelerator.KVM, _PROBE_MEMORY_MIB)
        process = MachineProcess("probe", command, Path(scratch))
        try:
            process.wait_until_it_says("probe answered", time.monotonic() + _PROBE_TIMEOUT_S)
        except VirtualTestbedError as error:
            return f"it does not, so they are emulated; {error}"
        finally:
            process.end()
    return ""
