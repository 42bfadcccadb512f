"""Room for the registers of processors that are younger than the kernel's source."""

from pathlib import Path
from typing import Final

ROOM_BYTES: Final = 16_384
"""AMX's registers make 11 008 bytes of a process, AVX-512's 2696. Room that the host does not need costs
memory alone: 16 KB for each thread, on a stack that CONFIG_KERNEL_STACK_ORDER makes larger."""
_FILE: Final = "arch/x86/um/user-offsets.c"
_STATED: Final = "DEFINE_LONGS(HOST_FP_SIZE, 2696);"


def make_room(source: Path) -> None:
    """Let the kernel keep as many registers as its host has.

    A host takes back registers of a traced process only whole (ptrace(2), PTRACE_SETREGSET with
    NT_X86_XSTATE), and Linux 6.1 states how many bytes these are: on a host with AMX its first process ends
    at once. Sources that ask the host state nothing, and stay as they are.
    """
    path = source / _FILE
    if path.is_file():
        path.write_text(path.read_text().replace(_STATED, _STATED.replace("2696", str(ROOM_BYTES))))
