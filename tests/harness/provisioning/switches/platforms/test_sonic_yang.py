"""What we write against SONiC's own YANG models, by libyang; the models are SONiC's, and not in this tree.

    git clone --depth 1 https://github.com/sonic-net/sonic-buildimage
    apt-get install libyang2-tools
    SONIC_YANG=sonic-buildimage/src/sonic-yang-models pytest tests/.../test_sonic_yang.py

Passed with the models of 23 August 2026 (commit 086b03bd70) and libyang 2.1.30.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import jinja2
import pytest
from helpers.fake_switch import LOSSLESS, wanted

from rogue.harness.provisioning.switches.platforms.sonic import Tables, wanted_tables

MODELS = os.environ.get("SONIC_YANG")
pytestmark = pytest.mark.skipif(
    not (MODELS and shutil.which("yanglint")), reason="needs SONIC_YANG, SONiC's YANG models, and yanglint"
)
FLAT = {
    "PORT": ("sonic-port", ("name",)),
    "BUFFER_POOL": ("sonic-buffer-pool", ("name",)),
    "BUFFER_PROFILE": ("sonic-buffer-profile", ("name",)),
    "BUFFER_PG": ("sonic-buffer-pg", ("port", "pg_num")),
    "PORT_QOS_MAP": ("sonic-port-qos-map", ("ifname",)),
    "QUEUE": ("sonic-queue", ("ifname", "qindex")),
    "WRED_PROFILE": ("sonic-wred-profile", ("name",)),
}
"""Tables whose fields are leaves: the module, and the keys in an entry's name."""
MAPS = {
    "DSCP_TO_TC_MAP": ("sonic-dscp-tc-map", "dscp", "tc"),
    "MAP_PFC_PRIORITY_TO_QUEUE": ("sonic-pfc-priority-queue-map", "pfc_priority", "qindex"),
    "TC_TO_PRIORITY_GROUP_MAP": ("sonic-tc-priority-group-map", "tc", "pg"),
    "TC_TO_QUEUE_MAP": ("sonic-tc-queue-map", "tc", "qindex"),
}
"""Tables whose fields are pairs."""
WITH_HEADROOM = {
    "3": {**LOSSLESS["3"], "headroom_bytes": 40_000},
    "4": {"dscp": [10, 12], "marks": {"from_bytes": 1, "to_bytes": 1}},
}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All modules in one directory, those that are made from templates, too."""
    assert MODELS
    made = tmp_path_factory.mktemp("yang")
    for path in Path(MODELS, "yang-models").glob("*.yang"):
        shutil.copy(path, made)
    for path in Path(MODELS, "yang-templates").glob("*.yang.j2"):
        text = jinja2.Template(path.read_text()).render(yang_model_type="py")
        (made / path.stem).write_text(text)
    return made


def checked(models: Path, directory: Path, tables: Tables) -> str:
    """What libyang says of the tables; empty if they are valid."""
    ports = {f"Ethernet{n}": {"lanes": str(n + 1), "speed": "25000"} for n in (0, 4)}
    pool = {"type": "ingress", "mode": "dynamic", "size": "1000000"}
    tables = {**tables, "PORT": ports, "BUFFER_POOL": {"ingress_lossless_pool": pool}}
    modules = {of[0] for of in (*FLAT.values(), *MAPS.values())} | {"sonic-device_metadata"}
    metadata = {"DEVICE_METADATA": {"localhost": {"hostname": "tor", "buffer_model": "traditional"}}}
    parts = [element(models, "sonic-device_metadata", metadata)]
    parts += [element(models, *in_yang(table, entries)) for table, entries in tables.items()]
    (directory / "data.xml").write_text("".join(parts))
    paths = [f"{models}/{module}.yang" for module in sorted(modules)]
    command = ["yanglint", "-p", str(models), "-t", "config", *paths, f"{directory}/data.xml"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else ""


def in_yang(table: str, entries: Mapping[str, Mapping[str, str]]) -> tuple[str, dict[str, Any]]:
    """A table of the configuration database as its module has it."""
    if table in FLAT:
        module, keys = FLAT[table]
        rows: list[dict[str, Any]] = [
            {**dict(zip(keys, name.split("|"), strict=True)), **fields} for name, fields in entries.items()
        ]
    else:
        module, left, right = MAPS[table]
        rows = [
            {"name": name, table: [{left: key, right: value} for key, value in pairs.items()]}
            for name, pairs in entries.items()
        ]
    return module, {table: {f"{table}_LIST": rows}}


def element(models: Path, module: str, content: Mapping[str, Any]) -> str:
    found = re.search(r'namespace "([^"]+)"', (models / f"{module}.yang").read_text())
    assert found
    return f'<{module} xmlns="{found[1]}">{inner(content)}</{module}>'


def inner(content: Any) -> str:
    if not isinstance(content, Mapping):
        return escape(str(content))
    return "".join(
        f"<{name}>{inner(each)}</{name}>"
        for name, value in content.items()
        for each in (value if isinstance(value, list) else [value])
    )


@pytest.mark.parametrize("priorities", [LOSSLESS, WITH_HEADROOM])
def test_what_is_written_is_valid(models: Path, tmp_path: Path, priorities: Mapping[str, Any]) -> None:
    ports = ("Ethernet0", "Ethernet4")
    tables = wanted_tables(wanted("sonic", ports, switch_priorities=priorities))
    assert checked(models, tmp_path, tables) == ""


@pytest.mark.parametrize(
    ("field", "value"), [("ecn", "ecn_some"), ("green_drop_probability", "101"), ("colour", "1")]
)
def test_what_is_wrong_is_found(models: Path, tmp_path: Path, field: str, value: str) -> None:
    tables = wanted_tables(wanted("sonic", ("Ethernet0",)))
    tables["WRED_PROFILE"]["ROGUE_3"][field] = value
    assert "libyang err" in checked(models, tmp_path, tables)
