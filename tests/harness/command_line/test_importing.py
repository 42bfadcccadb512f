"""`rogue import`, as typed."""

from pathlib import Path

from helpers.command_line import rogue


def test_a_file_is_printed_or_refused_with_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "a.cm").write_text("Nodes 2\nConnections 1\n0->1 start 0 size 7\n")
    done = rogue(tmp_path, "import", "htsim-cm", "a.cm")
    assert (done.code, done.out) == (0, "start_ns,src,dst,size_bytes\n0,h0,h1,7\n")
    refused = rogue(tmp_path, "import", "htsim-topo", "a.cm")
    assert refused.code == 2
    assert refused.err.startswith("rogue: import: got ")
