from pathlib import Path

from rogue.workloads.shipped import shipped


def test_a_checkout_has_them_at_its_top() -> None:
    top = Path(__file__).parents[2]
    assert shipped("experiments") == top / "experiments"
    assert (shipped("experiments") / "quickstart.yaml").is_file()
    assert (shipped("playbooks") / "provision.yml").is_file()


def test_an_installed_package_has_them_inside(tmp_path: Path) -> None:
    package = tmp_path / "rogue"
    (package / "experiments").mkdir(parents=True)
    assert shipped("experiments", package) == package / "experiments"
