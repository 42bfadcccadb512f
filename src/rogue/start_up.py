"""Settings of every process of this program, made before it imports libraries."""

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

THREADS: Final = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
"""Nothing here multiplies large matrices, and each thread of OpenBLAS takes tens of megabytes."""
SAFE_PATH: Final = "PYTHONSAFEPATH"
COLLECTED_AFTER: Final = (20_000, 10, 10)
"""Thresholds of Python's garbage collector. With 700, Python's first threshold, the collector takes a tenth
of a short command and a fifth of a report."""

_environment: Final = Lock()


def prepare() -> None:
    """Set the garbage collector, and variables that the environment does not set."""
    gc.set_threshold(*COLLECTED_AFTER)
    for name in THREADS:
        os.environ.setdefault(name, "1")
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # looking for them takes 40 ms


@contextmanager
def safe_path() -> Iterator[None]:
    """Keep a Python that starts in this context from importing files of its working directory.

    `multiprocessing` starts Python with `-c`, which searches the working directory first.
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
