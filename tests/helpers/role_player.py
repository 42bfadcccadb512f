"""Play roles with Ansible against nodes in memory, and record each setting, command and refusal.

Modules of Ansible that would change this computer are replaced by stand-ins. `kernel_settings` runs in check
mode, on a `FakeCardNode`.
"""

import os
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ansible_runner
import yaml
from ansible_collections.rogue.testbed.plugins.modules.node_facts import examine
from helpers.fake_card import FakeCardNode

PLAYBOOKS = Path(__file__).parents[2] / "playbooks"
_REPLACED = ("apt", "command", "copy", "dnf", "file", "find", "get_url", "stat")
_MODULE = re.compile(rf"^( +)ansible\.builtin\.({'|'.join(_REPLACED)}):", re.MULTILINE)
_SETTINGS = re.compile(r"^( +)(rogue\.testbed\.kernel_settings:)", re.MULTILINE)
_NODE_IN_MEMORY = """

import sys, tempfile
sys.path.insert(0, {tests!r})
from helpers.fake_card import FakeCardNode
System = lambda: FakeCardNode(Path(tempfile.mkdtemp(dir={directory!r})), has_ofed=True)
"""
"""Replaces the node at the end of the collection's `system.py`."""
_QUESTIONS = {
    "tools": [], "interfaces": ["eth0", "eth1"], "mac": "", "address": "", "peers": {}, "packet_bytes": 1500,
    "files": [],
}  # fmt: skip
_CALLED = {"packages": {"vars": {"packages_wanted": "{{ wanted | default(['ethtool', 'kmod']) }}"}}}
"""Roles that only other roles call."""
Steps = dict[str, list[Any]]
"""By host, in order: the arguments of a module, the settings of a node, or the message of a refusal."""


def shipped_roles() -> dict[str, Path]:
    """Return the directory of each role."""
    return {path.name: path for path in sorted((PLAYBOOKS / "roles").iterdir())}


def play(
    directory: Path, hosts: Mapping[str, Mapping[str, Any]], roles: Mapping[str, Path]
) -> dict[str, Steps]:
    """Return the steps of each role, played as `provision.yml` and `switch.yml` say.

    hosts: variables by host. `group` is hosts by default, `only` has the roles that it plays (by default
    all), and `driver` is its card's.
    roles: directories by a label, whose last part is the name of the role, such as `mutant-7/tcp`.
    """
    project = directory / "project"
    shutil.copytree(PLAYBOOKS, project)
    for name in _REPLACED:
        module = Path(__file__).with_name("stand_in_module.py")
        (modules,) = project.rglob("modules")
        shutil.copy(module, modules / f"stand_in_{name}.py")
    (system,) = project.rglob("system.py")
    words = _NODE_IN_MEMORY.format(tests=str(PLAYBOOKS.parent / "tests"), directory=str(directory))
    system.write_text(system.read_text() + words)
    plays = []
    for label, role in roles.items():
        copy = project / "played" / label
        shutil.copytree(role, copy)
        plays.append(_play(label, copy, hosts))
    for tasks in project.rglob("tasks/main.yml"):
        text = _MODULE.sub(r"\1rogue.testbed.stand_in_\2:", tasks.read_text())
        tasks.write_text(_SETTINGS.sub(r"\1check_mode: true\n\1\2", text))
    (project / "roles.yml").write_text(yaml.safe_dump(plays, sort_keys=False))
    (directory / "data").mkdir()
    found: dict[str, Steps] = {label: {} for label in roles}
    done = ansible_runner.run(
        private_data_dir=str(directory / "data"),
        project_dir=str(project),
        playbook="roles.yml",
        inventory={"all": {"vars": _COMMON, "hosts": _with_facts(directory, hosts)}},
        envvars={"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "ANSIBLE_FORKS": "8"},
        cmdline="--diff",
        event_handler=lambda event: _record(found, event),
        quiet=True,
    )
    with done.stdout as output:
        assert done.rc == 0, output.read()
    return found


_COMMON = {
    **{
        name: value
        for role in ("rdma", "tcp")  # whose defaults the variables of kernel_modules in the playbook need
        for name, value in yaml.safe_load((PLAYBOOKS / f"roles/{role}/defaults/main.yml").read_text()).items()
    },
    "ansible_connection": "local",
    "ansible_user": "root",
    "ansible_python_interpreter": sys.executable,
    "experiment_mtu": 4200,
    "agent_archive": "/controller/rogue-agent.pyz",
    "monitoring_dool": "/controller/dool",
}


def _play(label: str, role: Path, hosts: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the play of one role, with its variables and condition from the playbooks."""
    every = [
        (play["hosts"], entry)
        for name in ("provision.yml", "switch.yml")
        for play in yaml.safe_load((PLAYBOOKS / name).read_text())
        for entry in play.get("roles", [])
    ]
    own = [(hosts, entry) for hosts, entry in every if entry["role"] == role.name]
    tasks, played = [], []
    for group, entry in own or [("hosts:switch", _CALLED.get(role.name, {}))]:
        names = [name for name, variables in hosts.items() if _is_of(variables, group, role.name)]
        include = {"ansible.builtin.include_role": {"name": str(role)}, "vars": entry.get("vars", {})}
        after = {"ansible.builtin.debug": {"msg": "refused"}}
        when = [f"inventory_hostname in {names}", f"({entry.get('when', 'true')})"]
        tasks.append({"block": [include], "rescue": [after], "when": when})
        played += names
    return {"name": label, "hosts": ":".join(played), "gather_facts": False, "tasks": tasks}


def _is_of(variables: Mapping[str, Any], group: str, role: str) -> bool:
    is_in_group = variables.get("group", "hosts") in group.split(":")
    return is_in_group and role in variables.get("only", role).split()


def _with_facts(directory: Path, hosts: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    facts = {
        driver: examine(FakeCardNode(directory / driver, driver, has_ofed=has_ofed), _QUESTIONS)
        | {"kernel": "6.1.0"}
        for driver, has_ofed in (("mlx5_core", True), ("mlx4_core", False))
    }
    return {
        name: {
            "here": {"packages": []},
            **variables,
            "node": {"facts": {**facts[variables.get("driver", "mlx5_core")], **variables.get("facts", {})}},
        }
        for name, variables in hosts.items()
    }


def _record(found: dict[str, Steps], event: Mapping[str, Any]) -> bool:
    data, kind = event["event_data"], event["event"]
    if kind not in {"runner_on_ok", "runner_item_on_ok", "runner_on_failed", "runner_item_on_failed"}:
        return False
    steps = found[data["play"]].setdefault(data["host"], [])
    result = data["res"]
    if kind.endswith("failed"):
        steps.append({"refused": " ".join(str(result["msg"]).split())})
        return False
    if data["task_action"] == "ansible.builtin.debug" and result["msg"] != "refused":
        steps.append({"says": result["msg"]})
    diff = result.get("diff", [])
    after = [each["after"] for each in ([diff] if isinstance(diff, dict) else diff) if each.get("after")]
    steps += after if result["changed"] else [{"unchanged": each} for each in after]
    return False
