"""The recipe of the kernel and its root folder."""

import ast
import hashlib
from pathlib import Path
from typing import Final

ROOM_BYTES: Final = 16_384
"""A process has 11 008 bytes of registers with AMX, 2696 with AVX-512. Unneeded room only costs memory:
16 KB for each thread, on a stack that CONFIG_KERNEL_STACK_ORDER enlarges."""
_FILE: Final = "arch/x86/um/user-offsets.c"
_STATED: Final = "DEFINE_LONGS(HOST_FP_SIZE, 2696);"


def make_room(source: Path) -> None:
    """Enlarge the kernel's buffer for the host's registers.

    A host accepts only the whole set of registers of a traced process (ptrace(2), PTRACE_SETREGSET with
    NT_X86_XSTATE), and Linux 6.1 has a constant for its size: on a host with AMX the first process ends at
    once. Later sources query the host and are left unchanged.
    """
    path = source / _FILE
    if path.is_file():
        path.write_text(path.read_text().replace(_STATED, _STATED.replace("2696", str(ROOM_BYTES))))


_HERE: Final = Path(__file__).parent
OPTIONS: Final = _HERE / "options"
INIT: Final = _HERE / "init.sh"
PACKAGES: Final = (
    "busybox-static",
    "ibverbs-providers",
    "iproute2",
    "python3",
    "python3-pyverbs",
)
PATHS_LEFT_OUT: Final = (
    "/lib/udev/*",
    "/usr/lib/*/gconv/*",
    "/usr/lib/*/perl*",
    "/usr/share/bash-completion/*",
    "/usr/share/doc/*",
    "/usr/share/info/*",
    "/usr/share/lintian/*",
    "/usr/share/locale/*",
    "/usr/share/man/*",
    "/usr/share/perl*",
)
_SHAPED_BY: Final = (
    *(_HERE / f"{name}.py" for name in ("build", "recipe")),
    OPTIONS,
    INIT,
)
MOUNT_POINTS: Final = ("dev", "proc", "run", "sys", "tmp")


def digest(codename: str, source_version: str) -> str:
    """Name the recipe for the host's release and the version of its kernel source: same recipe, same name."""
    hasher = hashlib.sha256(f"{codename} {source_version}".encode())
    for path in _SHAPED_BY:
        hasher.update(path.name.encode() + b"\0" + _what_counts(path) + b"\0")
    return hasher.hexdigest()[:16]


def _what_counts(path: Path) -> bytes:
    """Return a file's content; of Python without comments and docstrings, which do not change the kernel."""
    content = path.read_bytes()
    return without_words(content) if path.suffix == ".py" else content


def without_words(code: bytes) -> bytes:
    """Return Python code as it runs: without comments, docstrings and layout."""
    return ast.unparse(_Silent().visit(ast.parse(code))).encode()


class _Silent(ast.NodeTransformer):
    """Remove docstrings."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        """Keep other expressions."""
        return None if isinstance(node.value, ast.Constant) else node


def wanted_options() -> list[str]:
    """Return the lines that the kernel's configuration must have."""
    return [line for line in OPTIONS.read_text().splitlines() if line.startswith("CONFIG_")]
