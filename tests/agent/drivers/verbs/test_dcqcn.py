from pathlib import Path

from rogue.agent.drivers.verbs.dcqcn import dcqcn_state


def test_what_can_be_said_of_each_driver(tmp_path: Path) -> None:
    assert dcqcn_state("eth1", "mlx5_core", tmp_path).startswith("not controllable: the inbox driver")
    for point in ("roce_np", "roce_rp"):
        directory = tmp_path / "eth1" / "ecn" / point / "enable"
        directory.mkdir(parents=True)
        for priority in range(8):
            (directory / str(priority)).write_text("1\n")
    assert dcqcn_state("eth1", "mlx5_core", tmp_path) == "on"
    (directory / "3").write_text("0\n")
    assert dcqcn_state("eth1", "mlx5_core", tmp_path) == "on for some priorities"
    for path in tmp_path.rglob("enable/*"):
        path.write_text("0\n")
    assert dcqcn_state("eth1", "mlx5_core", tmp_path) == "off"
    assert dcqcn_state("eth1", "mlx4_core", tmp_path) == "none: mlx4_core does not react to marks"
