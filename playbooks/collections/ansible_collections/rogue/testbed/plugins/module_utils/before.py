"""Stores the state of a node before provisioning in one JSON file, sets values, and restores that state."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
from typing import Any

from .settings import KINDS
from .system import CommandError, StateError, System

BEFORE = "/var/lib/rogue/before.json"
"""Values before provisioning. A value is added before the first change of it, and never replaced."""
LEFT = "/run/rogue/settings.json"
"""Values that provisioning left since the last boot."""
_EARLIER = "/var/lib/rogue/changes.json"
_PACKAGES = {
    "dpkg": ["dpkg-query", "--show", "--showformat", "${db:Status-Abbrev} ${Package}\n"],
    "rpm": ["rpm", "--query", "--all", "--queryformat", "ii %{NAME}\n"],
}
Document = dict[str, Any]


def load(system: System, path: str) -> Document:
    """Return the document; empty if there is none."""
    text = system.read(path)
    try:
        return dict(json.loads(text)) if text else {}
    except ValueError as error:
        raise StateError(
            f"{path} is damaged ({error}); reinstall the node, or remove the file to forget it"
        ) from error


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
    """Store loaded modules, installed packages and these files unless stored before; return what is new."""
    if system.read(_EARLIER) is not None:
        raise StateError(
            f"{_EARLIER}: an earlier version of rogue provisioned this node; run its `rogue teardown` first"
        )
    document = load(system, BEFORE)
    files = document.get("files", {})
    added = [path for path in paths if path not in files]
    if "modules" not in document:
        document |= {"modules": loaded_modules(system), "packages": packages(system), "boot": _boot(system)}
        added.insert(0, "modules and packages")
    if added and not check:
        save(
            system, BEFORE, {**document, "files": {**{path: _file(system, path) for path in paths}, **files}}
        )
    return added


def establish(system: System, wanted: dict[str, dict[str, Any]], check: bool) -> dict[str, tuple[Any, Any]]:
    """Set each value, by kind and key; return pairs of the value before and after for what changed."""
    mistakes = [
        KINDS[kind].mistake(key, value) for kind, each in wanted.items() for key, value in each.items()
    ]
    if any(mistakes):
        raise StateError("; ".join(filter(None, mistakes)))
    before, left = load(system, BEFORE), load(system, LEFT)
    changes: dict[str, tuple[Any, Any]] = {}
    for name, kind in KINDS.items():
        for key, value in wanted.get(name, {}).items():
            observed = _observed(system, name, key, check)
            is_ours = key in before.get(name, {})
            if not is_ours:
                if (reason := kind.refusal(key, observed)) is not None:
                    raise StateError(reason)
                before.setdefault(name, {})[key] = observed
                if not check:
                    save(system, BEFORE, before)
            last = left.get(name, {}).get(key)
            is_met = kind.is_met(observed, value, last)
            if not is_met and not check:
                _set(system, before, name, key, value)
            after = observed if is_met or check else kind.observe(system, key)
            if not is_met and (check or after != observed or name == "card_priorities"):
                changes[f"{name} {key}"] = (observed, value)
            if not check and last != kind.kept(after, value):
                left.setdefault(name, {})[key] = kind.kept(after, value)
                save(system, LEFT, left)
    return changes


def restore(system: System, check: bool) -> tuple[dict[str, tuple[Any, Any]], list[str], list[str]]:
    """Restore everything; return changes, packages that stay, and failures, after which to call it again."""
    before = load(system, BEFORE)
    changes: dict[str, tuple[Any, Any]] = {}
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
    for restored in (_restore_modules, _restore_files):
        restored(system, before, changes, failures, check)
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
            if not is_unknown and (key not in left.get(name, {}) or kind.has_drifted(observed, last)):
                found.append(f"{name} {key}")
    return found


def loaded_modules(system: System) -> list[str]:
    """Return the loaded modules that can be unloaded."""
    return sorted(path.parent.name for path in system.path("/sys/module").glob("*/refcnt"))


def configured_modules(system: System) -> list[str]:
    """Return the modules that provisioning loads at boot."""
    files = sorted(system.path("/etc/modules-load.d").glob("rogue*.conf"))
    lines = (line.strip() for file in files for line in file.read_text().splitlines())
    return [line.replace("-", "_") for line in lines if line and not line.startswith("#")]


def packages(system: System) -> list[str]:
    """Return the installed packages."""
    for command in _PACKAGES.values():
        with contextlib.suppress(CommandError):
            lines = (line.split() for line in system.run(command).splitlines())
            return sorted({words[-1] for words in lines if words[0][1:2] == "i"})
    return []


def _set(system: System, before: Document, name: str, key: str, value: object) -> None:
    """Set a value; store the modules that the kernel loads for it, such as a checksum's for soft-RoCE."""
    loaded = set(loaded_modules(system))
    try:
        KINDS[name].set(system, key, value)
    finally:
        if more := set(loaded_modules(system)) - loaded:
            before["loaded_by_settings"] = sorted(more.union(before.get("loaded_by_settings", [])))
            save(system, BEFORE, before)


def _boot(system: System) -> str:
    return system.read("/proc/sys/kernel/random/boot_id") or ""


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
    if file.is_dir():
        return "directory"
    if not file.is_file():
        return None
    return {
        "content": base64.b64encode(file.read_bytes()).decode(),
        "mode": f"{file.stat().st_mode & 0o7777:04o}",
    }


def _restore_files(
    system: System, before: Document, changes: dict[str, tuple[Any, Any]], failures: list[str], check: bool
) -> None:
    """Write files back and remove those that were not there; of directories only ours with their content."""
    for path, value in sorted(before.get("files", {}).items(), reverse=True):
        file, observed = system.path(path), _file(system, path)
        if observed == value or (failures and path.startswith("/etc/modules-load.d")):
            continue  # the next call needs the names of modules that are in use now
        changes[f"file {path}"] = (observed, value)
        try:
            if check:
                continue
            if isinstance(value, dict):
                file.write_bytes(base64.b64decode(value["content"]))
                file.chmod(int(value["mode"], 8))
            elif observed != "directory":
                file.unlink(missing_ok=True)
            elif "rogue" in file.name or "/rogue/" in path:
                shutil.rmtree(file)
            elif not list(file.iterdir()) or path.startswith("/sys/"):
                file.rmdir()
            else:
                del changes[f"file {path}"]
        except OSError as error:
            failures.append(f"file {path}: {error}")


def _restore_modules(
    system: System, before: Document, changes: dict[str, tuple[Any, Any]], failures: list[str], check: bool
) -> None:
    """Unload the modules of roles with what came with them, as far as they were not loaded before.

    Modules that came with them need one of them or are needed by one; others may belong to other software.
    Drivers of devices stay, because a card may carry the network that Ansible uses.
    """
    family: set[str] = set()
    more = {*configured_modules(system), *before.get("loaded_by_settings", [])}
    while more - family:
        family |= more
        more = {user for each in family for user in _users(system, each)} | _needs(system, family)
    new = family - set(before.get("modules", family))
    ours = {name for name in new if not system.path(f"/sys/module/{name}/drivers").exists()}
    named = ours & set(configured_modules(system))
    left = sorted(ours & set(loaded_modules(system)))
    changes.update({f"module {name}": ("loaded", "not loaded") for name in left})
    while not check and (
        unused := [name for name in left if (system.read(f"/sys/module/{name}/refcnt")) == "0"]
    ):
        with contextlib.suppress(CommandError):
            system.run(["rmmod", *unused])
        still = [name for name in left if name in loaded_modules(system)]
        if still == left:
            break
        left = still
    if not check:
        failures += [f"module {name}: in use; end what uses it" for name in left if name in named]


def _users(system: System, module: str) -> set[str]:
    return {path.name for path in system.path(f"/sys/module/{module}/holders").glob("*")}


def _needs(system: System, modules: set[str]) -> set[str]:
    return {each for each in loaded_modules(system) if _users(system, each) & modules}
