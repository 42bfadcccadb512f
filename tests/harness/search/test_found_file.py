"""A find as an experiment file."""

from dataclasses import replace
from pathlib import Path

import pytest
from helpers.searched import hill

from rogue.harness.experiment.load import load_experiment
from rogue.harness.search.base import named_for_search
from rogue.harness.search.found_file import FoundBy, found_document, found_text


def test_values_and_seeds_stand_in_it_and_scales_do_not(tmp_path: Path) -> None:
    document = named_for_search(hill(tmp_path, "scales={quick: {repetitions: 1}}").document)
    values = {"workload.senders": 7, "transports[1].rto_low": "200us"}
    found_by = FoundBy("It breaks", ("rogue", "search", "x"), "# aim: {}", has_files=True)
    text = found_text(found_document(document, values, range(101, 104)), found_by)
    file = tmp_path / "find.yml"
    file.write_text(text)
    found = load_experiment(str(file)).experiment
    assert (found.name, found.seed, found.repetitions, found.scales) == ("hill-found", 101, 3, {})
    assert found.transports[1].parameters == {"rto_low": "200us"}
    head = [line for line in text.splitlines() if line.startswith("#")]
    assert head[:2] == ["# It breaks.", "# Found by: rogue search x"]
    assert head[2].endswith("experiment.yaml: copy this file there.")


@pytest.mark.parametrize("end", ["\n", "\r", "\x85", "\u2028", "\x1b"])
def test_no_word_of_the_head_begins_a_line_of_its_own(tmp_path: Path, end: str) -> None:
    document = replace(hill(tmp_path).document, file=f"here{end}seed: 8")
    command = ("rogue", "search", f"my file{end}seed: 7")
    found_by = FoundBy(f"It{end}seed: 6", command, "# aim: {}", has_files=True)
    text = found_text(found_document(document, {}, range(101, 104)), found_by)
    head, _, body = text.partition("name: ")
    assert [line[:2] for line in head.splitlines()] == ["# "] * 4
    assert "seed" not in body.partition("seed: 101")[0] and "search 'my file" in head
