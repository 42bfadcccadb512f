"""Build the user-mode kernel and its root folder, and cache them."""

import os
import platform
import subprocess
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rogue.virtual import cache
from rogue.virtual.errors import VirtualTestbedError
from rogue.virtual.image.build import AptSources, host_sources
from rogue.virtual.kernel import recipe
from rogue.virtual.kernel.boot import Kernel, boot
from rogue.virtual.kernel.recipe import make_room
from rogue.virtual.prerequisites import run

_META_PACKAGE: Final = "linux-source"
"""A package that depends on the source package of the release's kernel."""
_QUERY_TIMEOUT_S: Final = 60.0
_DOWNLOAD_TIMEOUT_S: Final = 1200.0
_UNPACK_TIMEOUT_S: Final = 600.0
_DOWNLOAD: Final = 'cd "$0" && exec apt-get -qq download "$1"'


@dataclass(frozen=True, slots=True)
class SourcePackage:
    """A package with the kernel's source."""

    name: str
    version: str


def source_package() -> SourcePackage:
    """Return the kernel source package of this host's release, from apt."""
    depends = run(["apt-cache", "depends", "--important", _META_PACKAGE], timeout_s=_QUERY_TIMEOUT_S)
    names = [line.split()[-1] for line in depends.splitlines() if line.strip().startswith("Depends:")]
    if not names:
        raise VirtualTestbedError(
            f"apt on this host knows no package {_META_PACKAGE}: run `sudo apt-get update` and try again "
            "(only Debian hosts and relatives of it can build the kernel)"
        )
    shown = run(["apt-cache", "show", "--no-all-versions", names[0]], timeout_s=_QUERY_TIMEOUT_S)
    versions = [line.split()[1] for line in shown.splitlines() if line.startswith("Version:")]
    return SourcePackage(names[0], versions[0])


def unpack(package: SourcePackage, directory: Path) -> Path:
    """Download the source into a directory and return where it is unpacked; root is not needed."""
    run(["sh", "-c", _DOWNLOAD, str(directory), package.name], timeout_s=_DOWNLOAD_TIMEOUT_S)
    (archive,) = directory.glob("*.deb")
    run(["dpkg-deb", "-x", str(archive), str(directory / "package")], timeout_s=_UNPACK_TIMEOUT_S)
    (packed,) = (directory / "package" / "usr" / "src").glob("linux-source-*.tar.xz")
    source = directory / "source"
    source.mkdir()
    run(
        ["tar", "-x", "--strip-components=1", "-C", str(source), "-f", str(packed)],
        timeout_s=_UNPACK_TIMEOUT_S,
    )
    return source


_CONFIGURE_TIMEOUT_S: Final = 300.0
_PACKAGES_TIMEOUT_S: Final = 1200.0
_COMPILE_LIMIT_S: Final = 300.0
_PROGRESS_S: Final = 10.0
_WORDS_KEPT_LINES: Final = 15
_COMPILE_MODULES: Final = """\
import compileall
import os
import sys

standard = os.path.dirname(os.__file__)
sys.exit(not all(compileall.compile_dir(each, quiet=2) for each in (standard, "/usr/lib/python3")))
"""
"""Debian's packages have no compiled Python modules, and the root folder of cells is read-only. So the new
kernel compiles them with its Python, which also shows that it works."""


def build(
    directory: Path, package: SourcePackage, sources: AptSources, progress: Callable[[str], None]
) -> None:
    """Fill an empty directory with `linux`, its `config`, the folder `root` and the list of what is in it.

    The root folder is made while the source is fetched and unpacked, which use one processor.
    """
    with (
        tempfile.TemporaryDirectory(dir=directory.parent, prefix="build-") as scratch,
        ThreadPoolExecutor(1) as beside,
    ):
        progress(f"kernel: installing {len(recipe.PACKAGES)} Debian packages and their dependencies")
        root = beside.submit(_make_root, Path(scratch), directory, sources)
        progress(f"kernel: fetching {package.name} {package.version}")
        source = unpack(package, Path(scratch))
        make_room(source)
        _configure(source)
        _compile(source, progress)
        (source / "linux").rename(directory / "linux")
        (source / ".config").rename(directory / "config")
        root.result()
    progress("kernel: starting it, to compile Python's modules")
    _compile_modules(directory)
    (directory / "root.files").write_text("".join(f"{line}\n" for line in _files_of(directory / "root")))


def _files_of(root: Path) -> list[str]:
    """Return every file with its size, in order."""
    files = (path for path in root.rglob("*") if path.is_file() and not path.is_symlink())
    return sorted(f"{path.relative_to(root)} {path.stat().st_size}" for path in files)


def _configure(source: Path) -> None:
    """Take the smallest configuration with the recipe's options; each must be there in the end."""
    command = ["make", "-s", "-C", str(source), "ARCH=um", f"KCONFIG_ALLCONFIG={recipe.OPTIONS}"]
    run([*command, "allnoconfig"], timeout_s=_CONFIGURE_TIMEOUT_S)
    has = set((source / ".config").read_text().splitlines())
    absent = [line for line in recipe.wanted_options() if line not in has]
    if absent:
        raise VirtualTestbedError(
            f"this source cannot be configured with {', '.join(absent)}; "
            f"see what these depend on in this version, and add it to {recipe.OPTIONS}"
        )


def _compile(source: Path, progress: Callable[[str], None]) -> None:
    """Compile, and report progress every few seconds."""
    command = ["make", "-C", str(source), "ARCH=um", f"-j{os.cpu_count() or 1}", "linux"]
    words: list[str] = []
    compiled, told_s = 0, time.monotonic()
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None, "started with a pipe"
        for line in process.stdout:
            words = [*words[-_WORDS_KEPT_LINES + 1 :], line.rstrip()]
            compiled += line.lstrip().startswith("CC ")
            if time.monotonic() - told_s >= _PROGRESS_S:
                progress(f"kernel: {compiled} files compiled")
                told_s = time.monotonic()
    if process.returncode != 0:
        raise VirtualTestbedError("\n  ".join(["the kernel could not be compiled:", *words]))
    progress(f"kernel: {compiled} files compiled, all")


def _make_root(scratch: Path, directory: Path, sources: AptSources) -> None:
    """Fetch and unpack the packages with mmdebstrap, without running their scripts."""
    (scratch / "sources.list").write_text("".join(f"{line}\n" for line in sources.lines))
    (scratch / "apt.conf").write_text(sources.settings)
    tree = scratch / "root.tar"
    command = [
        "mmdebstrap",
        "--quiet",
        "--variant=extract",
        f"--aptopt={scratch / 'apt.conf'}",
        '--aptopt=APT::Install-Recommends "false"',
        *(f"--dpkgopt=path-exclude={path}" for path in recipe.PATHS_LEFT_OUT),
        f"--include={','.join(recipe.PACKAGES)}",
        sources.codename,
        str(tree),
        str(scratch / "sources.list"),
    ]
    run(command, timeout_s=_PACKAGES_TIMEOUT_S)
    root = directory / "root"
    root.mkdir()
    unpack_tree = ["tar", "-x", "--no-same-owner", "--exclude=./dev/*", "-C", str(root), "-f", str(tree)]
    run(unpack_tree, timeout_s=_PACKAGES_TIMEOUT_S)
    for name in recipe.MOUNT_POINTS:
        (root / name).mkdir(exist_ok=True)
    init = root / "init"
    init.write_bytes(recipe.INIT.read_bytes())
    init.chmod(0o755)


def _compile_modules(directory: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "main.py").write_text(_COMPILE_MODULES)
        boot(Kernel(directory), Path(folder), limit_s=_COMPILE_LIMIT_S, writes_to_root=True)


KIND: Final = "kernel"
FILES: Final = ("config", "linux", "root.files")


def cache_directory() -> Path:
    """Return the directory of built kernels."""
    return cache.cache_directory(KIND)


def obtain(kernels: Path, progress: Callable[[str], None]) -> Kernel:
    """Return the kernel of today's recipe and source, building it if the cache lacks it."""
    package = source_package()
    codename = platform.freedesktop_os_release().get("VERSION_CODENAME", "")
    directory = kernels / recipe.digest(codename, package.version)
    cache.obtain(directory, FILES, lambda fresh: build(fresh, package, host_sources(), progress), progress)
    return Kernel(directory)


def present(kernels: Path) -> Kernel | None:
    """Return the kernel of today's recipe and source if it has been built, and None otherwise."""
    codename = platform.freedesktop_os_release().get("VERSION_CODENAME", "")
    directory = kernels / recipe.digest(codename, source_package().version)
    return Kernel(directory) if cache.is_intact(directory, FILES) else None
