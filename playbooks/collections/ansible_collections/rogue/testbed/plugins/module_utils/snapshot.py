"""The state of a node before provisioning, in one JSON file: store it, set values, restore it."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
from typing import Any

from .settings import KINDS
from .system import StateError, System

BEFORE = "/var/lib/rogue/before.json"
"""Values before provisioning. A value is added before the first change of it, and never replaced."""
LEFT = "/run/rogue/provisioned.json"
"""The wanted and the observed value of each setting, as provisioning left them since the last boot."""
_PACKAGES = ["dpkg-query", "--show", "--showformat", "${db:Status-Abbrev} ${Package}\n"]
Document = dict[str, Any]
Changes = dict[str, tuple[Any, Any]]
"""By kind and key of a setting, its value before and after."""


def load(system: System, path: str) -> Document:
    """Return the document; empty if there is none."""
    text = system.read(path)
    try:
        return dict(json.loads(text)) if text else {}
    except ValueError as error:
        advice = "reinstall the node, or remove the file to forget it"
        raise StateError(f"{path} is damaged ({error}); {advice}") from error


def save(system: System, path: str, document: Document) -> None:
    """Replace the file; a reader sees the old or the new one, also after a power failure."""
    file = system.path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    fresh = file.with_name(f".{file.name}.new")
    with fresh.open("w") as stream:
        json.dump(document, stream, indent=1, sort_keys=True)
        stream.flush()
        os.fsync(stream.fileno())
    fresh.replace(file)


def keep(system: System, paths: list[str], check: bool) -> list[str]:
    """Store installed packages and these files unless stored before; return what is new."""
    before = load(system, BEFORE)
    files = before.setdefault("files", {})
    added = [path for path in paths if path not in files]
    if "packages" not in before:
        before |= {"packages": packages(system), "boot": _boot(system)}
        added.insert(0, "packages")
    files |= {path: _file(system, path) for path in paths if path not in files}
    if added and not check:
        save(system, BEFORE, before)
    return added


def establish(system: System, wanted: dict[str, dict[str, Any]], check: bool) -> Changes:
    """Set each value, by kind and key; return what changed."""
    pairs = [(name, key, value) for name in KINDS for key, value in wanted.get(name, {}).items()]
    if mistakes := [each for name, key, value in pairs if (each := KINDS[name].mistake(key, value))]:
        raise StateError("; ".join(mistakes))
    before, left = load(system, BEFORE), load(system, LEFT)
    changes: Changes = {}
    for name, key, value in pairs:
        kind = KINDS[name]
        observed = _observed(system, name, key, check)
        if key not in before.setdefault(name, {}):
            if (reason := kind.refusal(key, observed)) is not None:
                raise StateError(reason)
            before[name][key] = observed
            if not check:
                save(system, BEFORE, before)
        last = left.setdefault(name, {}).get(key)
        is_met = kind.is_met(observed, value, last)
        if not is_met and not check:
            kind.set(system, key, value)
        after = observed if is_met or check else kind.observe(system, key)
        if not is_met and (check or after != observed or name == "card_priorities"):
            changes[f"{name} {key}"] = (observed, value)
        if not check and last != {"wanted": value, "observed": after}:
            left[name][key] = {"wanted": value, "observed": after}
            save(system, LEFT, left)
    return changes


def restore(system: System, check: bool) -> tuple[Changes, list[str], list[str]]:
    """Restore settings and files; return changes, new packages, which stay, and failures.

    Loaded modules stay until the next boot. After failures, call it again.
    """
    before = load(system, BEFORE)
    changes: Changes = {}
    failures: list[str] = []
    if not before:
        return changes, [], failures
    for name in reversed(KINDS):
        for key, value in before.get(name, {}).items():
            if key.startswith("/proc/irq/") and before.get("boot") != _boot(system):
                continue  # the number may be another device's interrupt now
            try:
                observed = KINDS[name].observe(system, key)
                if not check:
                    KINDS[name].restore(system, key, value)
            except (StateError, OSError) as error:
                if system.path(f"/sys/class/net/{key}").exists() or name == "kernel_files":
                    failures.append(f"{name} {key}: {error}")
                continue
            if observed != value and (observed is not None or name != "kernel_files"):
                changes[f"{name} {key}"] = (observed, value)
    _restore_files(system, before, changes, failures, check)
    installed = packages(system)
    packages_left = sorted(set(installed) - set(before.get("packages", installed)))
    if not check and not failures:
        for path in (BEFORE, LEFT):
            system.path(path).unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # not empty
                system.path(path).parent.rmdir()
    return changes, packages_left, failures


def drift(system: System) -> list[str]:
    """Return the settings that are no longer as provisioning left them."""
    before, left = load(system, BEFORE), load(system, LEFT)
    found = []
    for name, kind in KINDS.items():
        for key in before.get(name, {}):
            last = left.get(name, {}).get(key)
            observed = _observed(system, name, key, check=True)
            is_unknown = observed is None and key.startswith("/sys/kernel/debug/") and not system.is_root()
            if not is_unknown and (last is None or kind.has_drifted(observed, last["observed"])):
                found.append(f"{name} {key}")
    return found


def packages(system: System) -> list[str]:
    """Return the installed packages."""
    lines = (line.split() for line in system.run(_PACKAGES).splitlines())
    return sorted({words[-1] for words in lines if words[0][1:2] == "i"})


def _boot(system: System) -> str:
    return system.read("/proc/sys/kernel/random/boot_id")


def _observed(system: System, name: str, key: str, check: bool) -> object:
    """Return the value; in check mode None if an earlier task would first have to bring it."""
    try:
        return KINDS[name].observe(system, key)
    except StateError:
        if not check:
            raise
        return None


def _file(system: System, path: str) -> dict[str, str] | str | None:
    file = system.path(path)
    if not file.is_file():
        return "directory" if file.is_dir() else None
    content = base64.b64encode(file.read_bytes()).decode()
    return {"content": content, "mode": f"{file.stat().st_mode & 0o7777:04o}"}


def _restore_files(
    system: System, before: Document, changes: Changes, failures: list[str], check: bool
) -> None:
    """Write files back and remove those that were not there; of directories only ours with their content."""
    for path, value in sorted(before.get("files", {}).items(), reverse=True):
        file, observed = system.path(path), _file(system, path)
        if observed == value:
            continue
        is_ours = "rogue" in path
        if observed == "directory" and not is_ours and not path.startswith("/sys/") and list(file.iterdir()):
            continue
        changes[f"file {path}"] = (observed, value)
        try:
            if check:
                continue
            if isinstance(value, dict):
                file.write_bytes(base64.b64decode(value["content"]))
                file.chmod(int(value["mode"], 8))
            elif observed != "directory":
                file.unlink(missing_ok=True)
            elif is_ours:
                shutil.rmtree(file)
            else:
                file.rmdir()
        except OSError as error:
            failures.append(f"file {path}: {error}")
