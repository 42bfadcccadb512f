"""What `rogue new` writes works as it is."""

from pathlib import Path

import pytest

from rogue.harness.errors import UsageError
from rogue.harness.plugins.contract import contract_faults
from rogue.harness.plugins.loading import load_plugins
from rogue.harness.plugins.source import read_plugin
from rogue.harness.plugins.start import KINDS, STARTS, write_start


@pytest.mark.parametrize("kind", KINDS)
def test_a_start_keeps_the_contract_and_its_test_names_it(kind: str, tmp_path: Path) -> None:
    file, test = write_start(kind, "my_own", tmp_path)
    (loaded,) = load_plugins([read_plugin(str(file), "")])
    assert loaded.adds == (f"{kind} my_own",)
    assert contract_faults(loaded) == []
    assert f'("{kind} my_own",)' in test.read_text()
    assert max(len(line) for line in file.read_text().splitlines()) <= 110


def test_each_kind_has_its_start() -> None:
    assert {path.stem for path in STARTS.iterdir()} == {*KINDS, "test"}


@pytest.mark.parametrize(
    ("kind", "name", "words"),
    [
        ("contrl", "x", "got 'contrl', expected one of control, workload, topology; write control if"),
        ("control", "My Own", "got the name 'My Own', expected lower-case letters"),
        ("control", "../x", "got the name '../x'"),
    ],
)
def test_what_cannot_be_is_a_sentence(kind: str, name: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=words):
        write_start(kind, name, tmp_path)
    assert [*tmp_path.iterdir()] == []


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text("precious")
    with pytest.raises(UsageError, match=r"test_mine\.py, which is there already"):
        write_start("control", "mine", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["test_mine.py"]
