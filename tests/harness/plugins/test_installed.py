from importlib import metadata
from pathlib import Path

import pytest
from helpers.plugin_files import SWIFT

from rogue.harness.errors import ConfigError
from rogue.harness.plugins import source
from rogue.harness.plugins.source import GROUP, installed_plugins, plugins_at


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed package, as pip leaves it."""
    monkeypatch.syspath_prepend(str(tmp_path))
    facts = tmp_path / "my_controls-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: my-controls\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text(f"[{GROUP}]\nswift = my_swift\n")
    return tmp_path


def test_a_module_that_an_entry_point_names_is_read_and_not_run(package: Path) -> None:
    text = SWIFT.read_text()
    (package / "my_swift.py").write_text(text)
    (found,) = [each for each in installed_plugins() if each.text == text]
    assert found.is_installed
    assert found.file == str(package / "my_swift.py")
    assert plugins_at([SWIFT]) == [found], "the same text is one plug-in"


def test_a_package_that_names_nothing_is_named(package: Path) -> None:
    with pytest.raises(
        ConfigError, match=f"my-controls, entry point {GROUP} swift: got my_swift, expected a"
    ):
        installed_plugins()


def test_without_packages_there_is_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source.metadata, "entry_points", lambda group: metadata.EntryPoints())
    assert installed_plugins() == []
