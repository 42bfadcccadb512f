"""pyarrow without pandas, where nobody asks for a frame."""

import sys
import threading
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec


class _NoPandas(MetaPathFinder):
    """No pandas for the thread that makes this, while it is among the finders."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()

    def find_spec(self, fullname: str, path: object, target: object = None) -> ModuleSpec | None:
        if fullname == "pandas" and threading.get_ident() == self._thread:
            raise ImportError("not needed here", name=fullname)
        return None


def make_arrays_without_pandas() -> None:
    """Let pyarrow find, with its first array, that nobody has a frame.

    To tell a frame's column from other values it would load pandas then, which takes a quarter of a second in
    each process that runs cells. Who asks pyarrow for a frame later gets one: it looks for pandas again.
    """
    if "pandas" in sys.modules:
        return
    import pyarrow as pa

    finder = _NoPandas()
    sys.meta_path.insert(0, finder)
    try:
        pa.array([0])
    finally:
        sys.meta_path.remove(finder)
