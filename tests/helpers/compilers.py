"""A compiler that counts."""

from pathlib import Path

import pytest

SCRIPT = """\
#!/bin/sh
case " $* " in
*" --version "*) cat {folder}/version; exit 0;;
*" -shared "*) echo >> {folder}/calls;;
esac
exec c++ "$@"
"""


class CountingCompiler:
    """The system's, behind a script that CXX names."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder = folder
        program = folder / "counting"
        program.write_text(SCRIPT.format(folder=folder))
        program.chmod(0o755)
        monkeypatch.setenv("CXX", str(program))
        self.becomes("1.0")

    def becomes(self, version: str) -> None:
        """Call itself another one."""
        (self._folder / "version").write_text(version)

    def calls(self) -> int:
        """How often something was compiled."""
        calls = self._folder / "calls"
        return len(calls.read_text()) if calls.exists() else 0
