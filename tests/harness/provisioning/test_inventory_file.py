"""Names of inventories."""

from pathlib import Path

from rogue.harness.provisioning.inventory_file import inventory_of


def test_a_path_is_its_own_file() -> None:
    assert inventory_of("inventory/mine.yaml") == Path("inventory/mine.yaml")
