"""What is built once."""

from pathlib import Path

from rogue.virtual import cache


def silent(_text: str) -> None:
    """Show nothing."""


def test_kinds_stand_beside_each_other(tmp_path: Path) -> None:
    """A build removes what is older of its own kind, and nothing else."""

    def build(directory: Path) -> None:
        (directory / "it").write_text("built")

    cache.obtain(tmp_path / "one" / "first", ["it"], build, silent)
    cache.obtain(tmp_path / "other" / "first", ["it"], build, silent)
    cache.obtain(tmp_path / "one" / "second", ["it"], build, silent)
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.glob("*/*/it")) == [
        "one/second/it",
        "other/first/it",
    ]
