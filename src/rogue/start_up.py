"""Settings of every process of this program, made before it imports libraries."""

import gc
import os
from typing import Final

THREADS: Final = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
"""Nothing here multiplies large matrices, and each thread of OpenBLAS takes tens of megabytes."""
COLLECTED_AFTER: Final = (20_000, 10, 10)
"""Thresholds of Python's garbage collector. With 700, Python's first threshold, the collector takes a tenth
of a short command and a fifth of a report."""


def prepare() -> None:
    """Set the garbage collector, and variables that the environment does not set."""
    gc.set_threshold(*COLLECTED_AFTER)
    for name in THREADS:
        os.environ.setdefault(name, "1")
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # looking for them takes 40 ms
