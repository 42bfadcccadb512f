"""How a process of this program starts: what lies in the folder where a person is steers none of it."""

import gc
import mmap
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import Final

MATPLOTLIB: Final = "matplotlib"
THREADS: Final = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
"""Nothing here multiplies large matrices, and each thread of OpenBLAS takes tens of megabytes."""
WITH_BLAS: Final = ("numpy", "scipy")
ROOM_BYTES: Final = 384 * 2**20
"""For one of them and what is drawn with it. With less, OpenBLAS may ask for memory for ever, until
SIGKILL ends it, or end the process with words of its own."""
SAFE_PATH: Final = "PYTHONSAFEPATH"
COLLECTED_AFTER: Final = (20_000, 10, 10)
"""Thresholds of Python's garbage collector. With a first one of 700, its own, it looks again and again
through modules, tables and figures that stay to the end: a tenth of a short command, a fifth of a report."""

_environment: Final = Lock()


def prepare() -> None:
    """Call before a library is imported; the numbers of threads are the person's own where there are some."""
    gc.set_threshold(*COLLECTED_AFTER)
    for name in THREADS:
        os.environ.setdefault(name, "1")
    _hook()


def ignore_settings_here() -> None:
    """Let matplotlib be imported as from elsewhere: it would obey a `matplotlibrc` of the working directory.

    Whoever imported it before, in a notebook, keeps what it has.
    """
    _hook()


def _hook() -> None:
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


@contextmanager
def safe_path() -> Iterator[None]:
    """A Python that is started meanwhile imports nothing from its working directory.

    Python itself starts those of `multiprocessing` with `-c`, which searches there first.
    """
    with _environment:
        before = os.environ.get(SAFE_PATH)
        os.environ[SAFE_PATH] = "1"
        try:
            yield
        finally:
            if before is None:
                del os.environ[SAFE_PATH]
            else:
                os.environ[SAFE_PATH] = before


class _Finder(MetaPathFinder):
    """Finds matplotlib where it is, and nothing else; MemoryError where there is no room for OpenBLAS."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname in WITH_BLAS:
            _require_room(fullname)
        found = PathFinder.find_spec(fullname, path, target) if fullname == MATPLOTLIB else None
        if found is None or found.origin is None:
            return None
        return spec_from_file_location(
            fullname,
            found.origin,
            loader=_FromElsewhere(fullname, found.origin),
            submodule_search_locations=found.submodule_search_locations,
        )


def _require_room(package: str) -> None:
    try:
        mmap.mmap(-1, ROOM_BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ).close()
    except OSError as error:
        raise MemoryError(f"{package} needs {ROOM_BYTES >> 20} MiB, and there is less") from error


class _FromElsewhere(SourceFileLoader):
    """Runs a package in its own directory."""

    def exec_module(self, module: ModuleType) -> None:
        """Come back whatever happens."""
        here = os.open(os.curdir, getattr(os, "O_PATH", os.O_RDONLY))
        try:
            os.chdir(Path(self.path).parent)
            super().exec_module(module)
        finally:
            os.fchdir(here)
            os.close(here)
