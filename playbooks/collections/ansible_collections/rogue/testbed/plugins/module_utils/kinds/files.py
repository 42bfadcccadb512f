"""Files and directories of our own."""

from __future__ import annotations

import base64
import hashlib
import shutil

from ..system import System
from .kind import Kind, Value


class Directory(Kind):
    """A directory; the value is True or False. One that we made goes with all that is in it."""

    def observe(self, system: System, key: str) -> Value:
        """Whether it is there."""
        return system.path(key).is_dir()

    def establish(self, system: System, key: str, wanted: Value) -> None:
        """Make it, with those above it."""
        system.path(key).mkdir(parents=True, mode=0o755)

    def undo(self, system: System, key: str, before: Value, after: Value) -> None:
        """Remove it if it was not there."""
        if not before:
            shutil.rmtree(system.path(key), ignore_errors=True)


class File(Kind):
    """A file: `{content: base64, sha256, mode}`; only checksum and mode are compared."""

    def observe(self, system: System, key: str) -> Value:
        """Its checksum, its mode and, to put it back, its content; None if it is not there."""
        path = system.path(key)
        if not path.is_file():
            return None
        content = path.read_bytes()
        return {
            "content": base64.b64encode(content).decode(),
            "sha256": hashlib.sha256(content).hexdigest(),
            "mode": f"{path.stat().st_mode & 0o7777:04o}",
        }

    def is_met(self, observed: Value, wanted: Value) -> bool:
        """Same bytes, same mode."""
        return bool(self.summary(observed) == self.summary(wanted))

    def establish(self, system: System, key: str, wanted: Value) -> None:
        """Write it under another name and rename it, so that no reader sees half of it."""
        path = system.path(key)
        fresh = path.with_name(f".{path.name}.new")
        fresh.write_bytes(base64.b64decode(wanted["content"]))
        fresh.chmod(int(wanted["mode"], 8))
        fresh.replace(path)

    def undo(self, system: System, key: str, before: Value, after: Value) -> None:
        """Write what was there, or remove it."""
        if before is not None:
            self.establish(system, key, before)
        else:
            system.path(key).unlink(missing_ok=True)

    def summary(self, value: Value) -> Value:
        """Without the bytes."""
        return value and {name: value[name] for name in ("sha256", "mode")}
