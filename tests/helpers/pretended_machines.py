"""Small programs in place of the machines of a testbed that stays up; they print a guest's lines and wait."""

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from rogue.virtual.image.build import Image
from rogue.virtual.machines import assembly
from rogue.virtual.machines.assembly import Accelerator, Assembly
from rogue.virtual.machines.machine_plan import MachinePlan
from rogue.virtual.persistent import lifecycle

_PROGRAM = """
import signal, sys
name, word = sys.argv[1:3]
with open(name + ".console", "w") as console:
    console.write("rogue-guest: " + word + "\\n")
signal.pause() if word != "dies" else None
"""


def pretend(monkeypatch: pytest.MonkeyPatch, state_home: Path, words: dict[str, str] | None = None) -> Image:
    """Make `up` start programs instead of QEMU; `words` replaces "ready" on the console, by machine."""

    def assemble(
        plans: Sequence[MachinePlan], image: Image, accelerator: Accelerator, directory: Path
    ) -> Assembly:
        made = assembly.assemble(plans, image, accelerator, directory)
        return Assembly(
            {
                name: [sys.executable, "-c", _PROGRAM, name, (words or {}).get(name, "ready")]
                for name in made.commands
            },
            made.ssh_ports,
        )

    monkeypatch.setenv("XDG_STATE_HOME", str(state_home))
    monkeypatch.setattr(lifecycle, "assemble", assemble)
    monkeypatch.setattr(lifecycle, "_log_in", lambda each: None)
    (state_home / "initrd.img").write_bytes(b"base")
    return Image(state_home)
