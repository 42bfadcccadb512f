"""Ansible gets what was checked, and nothing else of the file."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from helpers.nodes import write_inventory

from rogue.harness.errors import ConfigError, UsageError
from rogue.harness.provisioning.inventory import load_inventory
from rogue.harness.provisioning.inventory_source import members, text_for_ansible

NESTED = {
    "_meta": {"hostvars": {"h0": {"a": 1}}},
    "all": {"children": ["ungrouped", "hosts"]},
    "hosts": {"children": ["left", "right"], "hosts": ["h2"]},
    "left": {"hosts": ["h0", "h1"]},
    "right": {"hosts": ["h1"]},
}
GROUPS = ("hosts", "switch")
ENCRYPTED = "$ANSIBLE_VAULT;1.1;AES256\n6231\n3236\n"


def as_ansible_reads(text: str, directory: Path) -> dict[str, Any]:
    file = directory / "checked.yaml"
    file.write_text(text)
    program = Path(sys.executable).with_name("ansible-inventory")
    done = subprocess.run([program, "-i", file, "--list"], capture_output=True, text=True, check=True)
    listed: dict[str, Any] = json.loads(done.stdout)
    return listed


def test_members_of_groups_below_a_group_are_its_members() -> None:
    assert members(NESTED, "hosts") == ["h2", "h0", "h1"]
    assert members(NESTED, "switch") == []


def test_ansible_reads_the_same_hosts_groups_and_variables(tmp_path: Path) -> None:
    variables = {
        "on": "yes",
        "rates": [1, {"x": 2.5}],
        "none": None,
        "text": "a: 'b'\n",
        "k\x85 ey": "\x85\u2028\ufeff",
        "number": "017",
    }
    secret = {"__ansible_vault": ENCRYPTED}
    listed = {**NESTED, "_meta": {"hostvars": {"h0": variables, "h2": {"ansible_become_password": secret}}}}
    read = as_ansible_reads(text_for_ansible(listed, GROUPS), tmp_path)
    assert read["_meta"]["hostvars"] == {"h0": variables, "h2": {"ansible_become_password": secret}}
    assert set(members(read, "hosts")) == {"h0", "h1", "h2"}


def test_a_text_without_templates_is_a_text() -> None:
    listed = {
        "_meta": {"hostvars": {"h0": {"note": [{"__ansible_unsafe": "ü {x}"}]}}},
        "hosts": {"hosts": ["h0"]},
    }
    assert yaml.safe_load(text_for_ansible(listed, GROUPS))["all"]["hosts"] == {"h0": {"note": ["ü {x}"]}}


def test_names_that_yaml_takes_for_something_else_stay_names(tmp_path: Path) -> None:
    names = ["on", "1e3", "0x10", "null", "~", "2026-11-24", "007", "a: b", "- x"]
    listed = {"_meta": {"hostvars": {name: {name: name} for name in names}}, "hosts": {"hosts": names}}
    read = as_ansible_reads(text_for_ansible(listed, GROUPS), tmp_path)
    assert read["_meta"]["hostvars"] == {name: {name: name} for name in names}


@pytest.mark.parametrize("name", ["ansible_limit", "inventory_dir", "ansible_forks", "group_names"])
def test_what_ansible_does_not_list_does_not_reach_a_playbook(name: str, tmp_path: Path) -> None:
    file = write_inventory(tmp_path)
    document = yaml.safe_load(file.read_text())
    document["all"]["children"]["hosts"].setdefault("vars", {})[name] = "{{ lookup('pipe', 'id') }}"
    file.write_text(yaml.safe_dump(document))
    assert "lookup" not in load_inventory(file).text


def test_a_host_that_reads_back_as_another_does_not_reach_a_playbook(tmp_path: Path) -> None:
    """Ansible takes the port off a name before it counts through a range, and so lists `h0:2222` itself."""
    file = write_inventory(tmp_path)
    document = yaml.safe_load(file.read_text())
    evil = {"ansible_host": "elsewhere", "ansible_host_key_checking": False}
    document["all"]["children"]["other"] = {"hosts": {"h0:[2222:2222]": evil}}
    file.write_text(yaml.safe_dump(document))
    read = as_ansible_reads(load_inventory(file).text, tmp_path)
    assert read["_meta"]["hostvars"]["h0"]["ansible_host"] == "127.0.0.1"
    assert "elsewhere" not in load_inventory(file).text
    document["all"]["children"]["hosts"]["hosts"] |= {"h0:[2222:2222]": evil}
    file.write_text(yaml.safe_dump(document))
    with pytest.raises(ConfigError, match="got this name of a node"):
        load_inventory(file)


def test_variables_where_a_person_is_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, here = write_inventory(tmp_path), tmp_path / "here"
    (here / "group_vars").mkdir(parents=True)
    (here / "group_vars" / "all.yml").write_text("known_hosts_file: /strange\n")
    (here / "group_vars" / "hosts.yml").write_text("ansible_host: strange.example\n")
    monkeypatch.chdir(here)
    assert "strange" not in load_inventory(file).text


def test_hosts_of_a_group_below_are_the_hosts(tmp_path: Path) -> None:
    file = write_inventory(tmp_path)
    document = yaml.safe_load(file.read_text())
    rack = {"hosts": document["all"]["children"]["hosts"].pop("hosts")}
    document["all"]["children"]["hosts"]["children"] = {"rack": rack}
    file.write_text(yaml.safe_dump(document))
    assert [host.name for host in load_inventory(file).hosts] == ["h0", "h1"]


def test_a_value_that_ansible_cannot_show_is_a_sentence(tmp_path: Path) -> None:
    file = tmp_path / "nodes.yaml"
    file.write_text("hosts: {hosts: {h0: {a: !!binary aGVsbG8=}}}\n")
    with pytest.raises(UsageError, match="Ansible cannot read it: ") as refused:
        load_inventory(file)
    assert "Traceback" not in str(refused.value)
