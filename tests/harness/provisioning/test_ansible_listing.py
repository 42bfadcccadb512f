"""What Ansible says of an inventory is read within bounds."""

import os
from itertools import pairwise
from pathlib import Path

import pytest
from helpers.nodes import write_inventory

from rogue.harness.errors import UsageError
from rogue.harness.provisioning import inventory_source
from rogue.harness.provisioning.inventory import load_inventory
from rogue.harness.provisioning.inventory_source import LISTED_BYTES_MAX


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
