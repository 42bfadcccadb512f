from pathlib import Path

from workloads.shipped import shipped


def test_a_checkout_has_them_beside_its_packages() -> None:
    assert (shipped("experiments") / "quickstart.yaml").is_file()
    assert (shipped("playbooks") / "provision.yml").is_file()


def test_an_installed_package_has_them_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "rogue_shipped" / "experiments").mkdir(parents=True)
    assert shipped("experiments", tmp_path) == tmp_path / "rogue_shipped" / "experiments"
    assert shipped("playbooks", tmp_path) == tmp_path / "playbooks"
