"""Cases of SMaRTT's simulator: their command lines, and what its program says."""

from pathlib import Path

import pytest
from smartt_artifact import CASES, DATACENTER, Case, command, main, run, told_in

DONE = "Completion Time Flow is {0} - Overall Time {0}\nOverall Completion at {0}\n"
TEXT = DONE.format(328_000_000) + DONE.format(360_500_000)
SMALL = Case("2 to 1", "SMaRTT", 919, "two.bin", "-nodes 16 -k 1", 2)


def test_each_case_has_the_words_of_its_script() -> None:
    words = {(case.name, case.sender): command(case) for case in CASES}
    assert len(words) == len(CASES) == 18
    incast = " ".join(words["32 to 1, 1048576 B", "SMaRTT"])
    assert "-nodes 1024 -k 1 -seed 919 -goal incast_scaling_32/incast_1024_32_1048576.bin" in incast
    assert "-algorithm delayB -x_gain 1.25 -y_gain 5 -strat ecmp_host_random2_ecn" in incast
    assert "-w_gain 2 -z_gain 0.8 -bonus_drop 0.8" in incast
    assert words["8 to 1, 33554432 B", "EQDS"][0] == "./htsim_ndp_entry_modern"
    assert " ".join(words["permutation", "SMaRTT-OPS"]).endswith(
        "-strat ecmp_host -nodes 128 -k 4 -seed 919 -goal permutation/permutation_128_33554432.bin"
    )


def test_what_is_told_of_a_run() -> None:
    assert told_in(TEXT, 2) == (360.5, pytest.approx(344.25))
    assert told_in(TEXT, 3).tail_us == float("inf")
    assert told_in("", 1) == (float("inf"), float("inf"))


def test_a_line_of_each_case_and_seed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a program that crashes when it has told everything."""
    (tmp_path / DATACENTER).mkdir(parents=True)
    program = tmp_path / DATACENTER / "htsim_uec_entry_modern"
    program.write_text(f"#!/bin/sh\ncat <<'END'\n{TEXT}END\nexit 139\n")
    program.chmod(0o755)
    assert run(SMALL, tmp_path).tail_us == 360.5
    monkeypatch.setattr("smartt_artifact.CASES", (SMALL,))
    main(tmp_path, [5, 6])
    _, *lines = capsys.readouterr().out.splitlines()
    assert lines == ['"2 to 1",SMaRTT,5,360.5,344.25', '"2 to 1",SMaRTT,6,360.5,344.25']
