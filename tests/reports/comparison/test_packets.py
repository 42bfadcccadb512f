"""Tests: the first packet at which two runs part."""

from pathlib import Path

import pytest
from helpers.packet_tables import ONE_LOSS, packet_table
from helpers.sample_run import write_manifest, write_table
from helpers.small_runs import cell, manifest

from rogue.harness.commands.report import compare
from rogue.harness.errors import ExitCode, UsageError
from rogue.reports.comparison.packets import BEFORE, compare_tables

LATER = [f"{float(line.split()[0]) * 3} {line.partition(' ')[2]}" for line in ONE_LOSS]


def test_other_times_are_no_difference() -> None:
    found = compare_tables("roce-r1", packet_table(*ONE_LOSS), packet_table(*LATER))
    assert (found.parting, found.packets) == (None, len(ONE_LOSS))


def test_the_first_difference_has_the_packets_before_it_on_both_sides() -> None:
    selective = [line for line in LATER if line.partition(" ")[2] != "write 3" or float(line.split()[0]) < 20]
    found = compare_tables("roce-r1", packet_table(*ONE_LOSS), packet_table(*selective)).parting
    assert found is not None and found.a is not None and found.b is not None
    assert (found.a.text, found.b.text) == (
        "h0->h1 write 3, transmission 2", "h0->h1 write 4, transmission 2",
    )  # fmt: skip
    assert [each.text for each in found.before_a][-2:] == ["h1->h0 nak 2", "h0->h1 write 2, transmission 2"]
    assert [each.key for each in found.before_a] == [each.key for each in found.before_b]
    assert found.rows[-1] == ("12.000", found.a.text, "39.000", found.b.text)


def test_a_direction_that_ends_early_parts_there() -> None:
    found = compare_tables("roce-r1", packet_table(*ONE_LOSS), packet_table(*ONE_LOSS[:-1])).parting
    assert found is not None and found.a is not None and found.a.text == "h1->h0 ack 4" and found.b is None
    assert found.rows[-1][2:] == ("", "none")


def test_a_packet_that_one_run_lost_is_a_difference() -> None:
    kept = [line.replace(" dropped", "") for line in ONE_LOSS]
    found = compare_tables("roce-r1", packet_table(*ONE_LOSS), packet_table(*kept)).parting
    assert found is not None and found.a is not None and found.a.text == "h0->h1 write 2, dropped"


def test_flows_part_by_themselves_and_the_earliest_counts() -> None:
    long = [f"{number} write {number}" for number in range(30)]
    short = [line for line in long if not line.endswith(" 20")]
    found = compare_tables("roce-r1", packet_table(*long), packet_table(*short)).parting
    assert found is not None and len(found.before_a) == BEFORE
    assert found.before_a[0].psn == 20 - BEFORE


def _run(directory: Path, lines: tuple[str, ...], seed: int = 1) -> Path:
    (directory / "cells" / "rogue-r1").mkdir(parents=True)
    own = cell(seed=seed)
    table = packet_table(*lines)
    columns = {name: [None if value != value else value for value in table[name].tolist()] for name in table}
    write_table(directory / "cells" / str(own["id"]) / "packets.parquet", "packets", columns)
    write_manifest(directory, manifest([own]))
    return directory


def test_the_command_prints_both_sides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = _run(tmp_path / "a", ONE_LOSS), _run(tmp_path / "b", ONE_LOSS[:-1])
    assert compare(*runs, packets=True, accepts_damage=True) is ExitCode.OK
    printed = capsys.readouterr().out
    assert "9 packets the same; main/h0->h1 parts here:" in printed
    assert printed.splitlines()[-1].split() == ["16.500", "h1->h0", "ack", "4", "none"]
    assert compare(runs[0], runs[0], packets=True, accepts_damage=True) is ExitCode.OK
    assert "10 packets the same, and no other" in capsys.readouterr().out


def test_runs_without_common_packets_are_an_error(tmp_path: Path) -> None:
    runs = _run(tmp_path / "a", ONE_LOSS), _run(tmp_path / "b", ONE_LOSS, seed=2)
    with pytest.raises(UsageError, match=r"expected a cell with the same id and seed .*measure=\[packets\]"):
        compare(*runs, packets=True, accepts_damage=True)
