"""Tests: read an inventory through ansible-inventory, and hand the checked content to Ansible."""

import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from helpers.nodes import write_inventory

from rogue.harness.errors import ConfigError, UsageError
from rogue.harness.provisioning import inventory_source
from rogue.harness.provisioning.inventory import load_inventory
from rogue.harness.provisioning.inventory_source import LISTED_BYTES_MAX, members, text_for_ansible
from rogue.harness.provisioning.named_inventory import NamedInventory, inventory_file_of


def test_a_path_is_its_own_file() -> None:
    assert inventory_file_of("inventory/mine.yaml") == Path("inventory/mine.yaml")


def test_it_is_named_again_with_all_that_was_said_beside_it() -> None:
    assert NamedInventory("rack.yaml").words == ("rack.yaml",)
    named = NamedInventory("rack.sh", is_trusted=True, plugins=(Path("a.py"), Path("b.py")))
    assert named.words == ("rack.sh", "--trust-inventory", "--plugin", "a.py", "--plugin", "b.py")


def inventory_of_aliases(directory: Path, levels: int) -> Path:
    """One of some hundred bytes that holds 8 to the power of `levels` values."""
    names = [f"a{level}" for level in range(levels)]
    lines = ["    a0: &a0 [x, x, x, x, x, x, x, x]"]
    lines += [f"    {name}: &{name} [{', '.join([f'*{below}'] * 8)}]" for below, name in pairwise(names)]
    path = directory / "nodes.yaml"
    path.write_text("\n".join(["hosts:", "  hosts: {h0: {}}", "  vars:", *lines, ""]))
    return path


def test_a_file_that_would_fill_the_memory_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inventory_source, "MEMORY_LIMIT_BYTES", 180_000_000)
    with pytest.raises(UsageError, match=r"^inventory .*: Ansible cannot read it: "):
        load_inventory(inventory_of_aliases(tmp_path, 10))


def test_a_file_that_becomes_long_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inventory_source, "LISTED_BYTES_MAX", 1 << 14)
    expected = "expected variables of less than 16384 bytes in all; shorten it"
    with pytest.raises(UsageError, match=rf"got one that says more, {expected}"):
        load_inventory(inventory_of_aliases(tmp_path, 4))
    assert LISTED_BYTES_MAX == 16 * 2**20, "what is said of so much ends within seconds"


def test_a_file_that_takes_long_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inventory_source, "TIME_LIMIT_S", 0.01)
    with pytest.raises(UsageError, match="expected one that Ansible reads within 0 s; shorten it"):
        load_inventory(write_inventory(tmp_path))


@pytest.mark.parametrize("folder", ["group_vars", "host_vars/h0"])
def test_what_never_ends_beside_it_is_named(tmp_path: Path, folder: str) -> None:
    path = write_inventory(tmp_path)
    pipe = tmp_path / folder / "all.yml"
    pipe.parent.mkdir(parents=True)
    os.mkfifo(pipe)
    with pytest.raises(UsageError, match=rf"got {pipe}, a pipe or a device, expected files and folders"):
        load_inventory(path)


def test_links_in_a_ring_are_a_sentence(tmp_path: Path) -> None:
    path, folder = write_inventory(tmp_path), tmp_path / "group_vars"
    folder.mkdir()
    for name in ("a", "b"):
        (folder / name).symlink_to(folder)
    with pytest.raises(UsageError, match="got more beside it, expected at most 10000 files in group_vars"):
        load_inventory(path)


def test_a_pipe_behind_a_link_is_named(tmp_path: Path) -> None:
    path = write_inventory(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    os.mkfifo(tmp_path / "elsewhere" / "all.yml")
    (tmp_path / "group_vars").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match=r"group_vars/all.yml, a pipe or a device"):
        load_inventory(path)


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
