"""What the kernel and its root folder are made of: a change here changes the recipe's digest."""

import ast
import hashlib
from pathlib import Path
from typing import Final

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
    *(_HERE / f"{name}.py" for name in ("build", "recipe", "registers", "source")),
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
    """Return a file's content, of Python without comments and docstrings: these make no other kernel."""
    content = path.read_bytes()
    return without_words(content) if path.suffix == ".py" else content


def without_words(code: bytes) -> bytes:
    """Return Python code as it runs: without comments, docstrings and layout."""
    return ast.unparse(_Silent().visit(ast.parse(code))).encode()


class _Silent(ast.NodeTransformer):
    """Takes away statements that are nothing but text."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        """Keep what does something."""
        return None if isinstance(node.value, ast.Constant) else node


def wanted_options() -> list[str]:
    """The lines that the kernel's configuration must have in the end."""
    return [line for line in OPTIONS.read_text().splitlines() if line.startswith("CONFIG_")]
