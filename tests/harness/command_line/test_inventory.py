from pathlib import Path

from helpers.command_line import rogue
from helpers.nodes import write_inventory

MANIFEST = Path(__file__).parents[1] / "data" / "manifest.xml"
EXAMPLE = Path(__file__).parents[3] / "inventory" / "example" / "nodes.yaml"


def test_from_a_manifest_to_an_inventory_that_is_checked(tmp_path: Path) -> None:
    made = rogue(tmp_path, "inventory", "from-manifest", str(MANIFEST), "--user", "alice")
    assert made.code == 0, made.err
    assert "ssh-keyscan ms1041.example.net ms1042.example.net" in made.err
    (tmp_path / "nodes.yaml").write_text(made.out)
    checked = rogue(tmp_path, "inventory", "check", "nodes.yaml")
    assert checked.code == 0, checked.err
    assert [line.split()[0] for line in checked.out.splitlines()] == ["node", "h0", "h1"]


def test_the_example_is_an_inventory(tmp_path: Path) -> None:
    checked = rogue(tmp_path, "inventory", "check", str(EXAMPLE))
    assert checked.code == 0, checked.err
    assert "s0->h0, s0->h1" in checked.out


def test_a_mistake_is_told_with_its_place(tmp_path: Path) -> None:
    path = write_inventory(tmp_path, ("10.9.0.11", "10.9.0"))
    checked = rogue(tmp_path, "inventory", "check", str(path))
    assert checked.code == 2
    assert f"{path}: h1.experiment_address: got '10.9.0', expected" in checked.err
