"""`rogue import`."""

from pathlib import Path

import pytest

from rogue.harness.commands.plugins import import_file
from rogue.harness.data.files import files_beside
from rogue.harness.errors import UsageError
from rogue.workloads.topologies.links import LinkList
from rogue.workloads.traffic.trace import TraceRows

FLOWS = "2\n2 1 3 100 5 0\n1 2 3 100 6 0.5\n"


def test_a_file_of_another_simulator_becomes_ours_and_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "flow.txt").write_text(FLOWS)
    import_file("hpcc-flows", tmp_path / "flow.txt", tmp_path / "flows.csv", is_back=False)
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == (f"{tmp_path / 'flows.csv'}\n", "rogue: ports are left out.\n")
    rows = files_beside(str(tmp_path / "x.yaml")).read(TraceRows, "flows.csv")
    assert isinstance(rows, TraceRows)
    assert rows.sizes_bytes.tolist() == [5, 6]
    import_file("hpcc-flows", tmp_path / "flows.csv", None, is_back=True)
    assert capsys.readouterr().out == "2\n2 1 3 100 5 0.000000000\n1 2 3 100 6 0.500000000\n"


def test_what_ours_would_refuse_is_not_written(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text(
        "6 2 4\n4 5\n0 4 1Gbps 1ns 0\n1 4 1Gbps 1ns 0\n2 5 1Gbps 1ns 0\n3 5 1Gbps 1ns 0\n"
    )
    with pytest.raises(UsageError, match="expected a network in one piece"):
        import_file("hpcc-topology", tmp_path / "t.txt", tmp_path / "net.yaml", is_back=False)
    assert not (tmp_path / "net.yaml").exists()


def test_a_network_is_read_as_it_was_written(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("3 1 2\n2\n0 2 1Gbps 1ns 0\n1 2 1Gbps 1ns 0\n")
    import_file("hpcc-topology", tmp_path / "t.txt", tmp_path / "net.yaml", is_back=False)
    assert isinstance(files_beside(str(tmp_path / "x.yaml")).read(LinkList, "net.yaml"), LinkList)


def test_starts_of_a_matrix_may_have_another_unit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.cm").write_text("Nodes 2\nConnections 1\n0->1 start 16 size 7\n")
    for unit, start_ns, words in ((None, 0, "taken as picoseconds"), ("us", 16_000, "taken as microseconds")):
        import_file("htsim-cm", tmp_path / "a.cm", None, is_back=False, start_unit=unit)
        shown = capsys.readouterr()
        assert shown.out == f"start_ns,src,dst,size_bytes\n{start_ns},h0,h1,7\n"
        assert words in shown.err
    for name, unit, expected in (("htsim-cm", "min", "one of ps, us"), ("hpcc-flows", "us", "no unit")):
        with pytest.raises(UsageError, match=f"--start-unit: got '{unit}', expected {expected} for {name}; "):
            import_file(name, tmp_path / "a.cm", None, is_back=False, start_unit=unit)


def test_mistakes_are_sentences(tmp_path: Path) -> None:
    (tmp_path / "flow.txt").write_text("1\n2 2 3 100 5 0\n")
    for name, file, is_back, words in (
        ("hpcc-flow", "flow.txt", False, "write hpcc-flows if that is meant"),
        ("hpcc-flows", "flow.txt", False, "got 2 2 3 100 5 0 in line 2 of "),
        ("hpcc-flows", "none.txt", False, "No such file or directory"),
        ("htsim-topo", "flow.txt", True, "--back: got htsim-topo, expected one of hpcc-flows, "),
    ):
        with pytest.raises(UsageError, match=words):
            import_file(name, tmp_path / file, None, is_back=is_back)
