"""Names of inventories."""

from pathlib import Path

from rogue.harness.provisioning.inventory_source import NamedInventory, inventory_of


def test_a_path_is_its_own_file() -> None:
    assert inventory_of("inventory/mine.yaml") == Path("inventory/mine.yaml")


def test_it_is_named_again_with_all_that_was_said_beside_it() -> None:
    assert NamedInventory("rack.yaml").words == ("rack.yaml",)
    named = NamedInventory("rack.sh", is_trusted=True, plugins=(Path("a.py"), Path("b.py")))
    assert named.words == ("rack.sh", "--trust-inventory", "--plugin", "a.py", "--plugin", "b.py")
