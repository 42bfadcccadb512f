"""The networks of the benchmarks, which are scripts and no package."""

import importlib.util
from pathlib import Path

_PATH = Path(__file__).parents[2] / "benchmarks/engine_networks.py"
_SPECIFICATION = importlib.util.spec_from_file_location("engine_networks", _PATH)
assert _SPECIFICATION is not None and _SPECIFICATION.loader is not None
engine_networks = importlib.util.module_from_spec(_SPECIFICATION)
_SPECIFICATION.loader.exec_module(engine_networks)
