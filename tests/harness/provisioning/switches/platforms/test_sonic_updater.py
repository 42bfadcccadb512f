"""What we say that releases refuse against their own validators; these are SONiC's, and not in this tree.

    git clone --bare https://github.com/sonic-net/sonic-utilities
    SONIC_UTILITIES=sonic-utilities.git pytest tests/.../test_sonic_updater.py

Passed with the branches of 23 July 2026, whose commits `sonic_release.py` names.
"""

import json
import os
import re
import subprocess
import sys
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from helpers.fake_sonic import EVERY

from rogue.harness.provisioning.switches.platforms.sonic_patch import is_refused

CHECKOUT = os.environ.get("SONIC_UTILITIES")
pytestmark = pytest.mark.skipif(not CHECKOUT, reason="needs SONIC_UTILITIES, a clone of sonic-utilities")
FOLDER = "generic_config_updater"
CONFIGURATION = "gcu_field_operation_validators.conf.json"


def of_branch(branch: str, name: str) -> str:
    command = ["git", "-C", str(CHECKOUT), "show", f"{branch}:{FOLDER}/{name}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


class Pointer:
    """RFC 6901, as far as paths of patches need it."""

    def __init__(self, path: str) -> None:
        self.parts = [part.replace("~1", "/").replace("~0", "~") for part in path.split("/")[1:]]


def validators(branch: str, directory: Path, monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """The module of a branch on a Spectrum-2; whatever else it imports is empty."""
    (directory / CONFIGURATION).write_text(of_branch(branch, CONFIGURATION))
    info = {"asic_type": "mellanox", "build_version": f"{branch}.1-x"}
    stubs = {
        "jsonpointer": {"JsonPointer": Pointer},
        "sonic_py_common": {"device_info": types.SimpleNamespace(get_sonic_version_info=lambda: info)},
        "swsscommon": {"swsscommon": None},
        "utilities_common": {},
        "utilities_common.constants": {"DEFAULT_SUPPORTED_FECS_LIST": []},
        "updater.gu_common": {"GenericConfigUpdaterError": ValueError},
    }
    for name, content in stubs.items():
        module = types.ModuleType(name)
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, name, module)
    made = types.ModuleType("updater.field_operation_validators")
    made.__package__, made.__file__ = "updater", str(directory / "field_operation_validators.py")
    code = compile(of_branch(branch, "field_operation_validators.py"), made.__file__, "exec")
    exec(code, vars(made))
    vars(made)["get_asic_name"] = lambda: "spc2"
    return made


def judged(module: types.ModuleType, branch: str, operation: Mapping[str, Any]) -> bool:
    """As `validate_field_operation` of gu_common.py asks them."""
    table = operation["path"].split("/")[1]
    tables = json.loads(of_branch(branch, CONFIGURATION))["tables"]
    names = [each.split(".")[-1] for each in tables.get(table, {}).get("field_operation_validators", [])]
    functions: list[Callable[..., bool]] = [getattr(module, name) for name in names]
    scope = [""] if re.search(r"def rdma_config_update_validator\(scope", vars(module)["text"]) else []
    return all(function(*scope, operation) for function in functions)


@pytest.mark.parametrize("branch", ["202205", "202305", "202311", "202405", "202411", "202505", "202511"])
def test_they_say_the_same(branch: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = validators(branch, tmp_path, monkeypatch)
    vars(module)["text"] = of_branch(branch, "field_operation_validators.py")
    for operation in EVERY:
        assert judged(module, branch, operation) != is_refused(branch, operation), operation
