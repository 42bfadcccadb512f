"""The state of a node before provisioning, in one JSON file: store it, set values, restore it."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
from typing import Any

from .kind import Kind
from .settings import KINDS
from .system import CommandError, StateError, System

BEFORE = "/var/lib/rogue/before.json"
"""Values before provisioning. A value is added before the first change of it, and never replaced."""
LEFT = "/run/rogue/provisioned.json"
"""The wanted and the observed value of each setting, as provisioning left them since the last boot."""
_PACKAGES = (
    ["dpkg-query", "--show", "--showformat", "${db:Status-Abbrev} ${Package}\n"],
    ["rpm", "--query", "--all", "--queryformat", "ii %{NAME}\n"],
)
"""Programs that list packages; a node has one of them."""
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
    """Store loaded modules, installed packages and these files unless stored before; return what is new."""
    before = load(system, BEFORE)
    files = before.setdefault("files", {})
    added = [path for path in paths if path not in files]
    if "packages" not in before:
        before |= {"modules": _loaded(system), "packages": packages(system), "boot": _boot(system)}
        added.insert(0, "modules and packages")
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
        if not check and not kind.is_there(system, key):
            raise StateError(kind.missing.format(key))
        observed = _observed(system, kind, key, check)
        if key not in before.setdefault(name, {}):
            if (reason := kind.refusal(key, observed)) is not None:
                raise StateError(reason)
            before[name][key] = observed
            if not check:
                save(system, BEFORE, before)
        elif _add_unstored(before[name], key, observed) and not check:
            save(system, BEFORE, before)
        last = left.setdefault(name, {}).get(key)
        is_met = kind.is_met(observed, value, last)
        if not is_met and not check:
            _set(system, before, name, key, value)
        after = observed if is_met or check else kind.observe(system, key)
        if not is_met and (check or after != observed or name == "card_priorities"):
            changes[f"{name} {key}"] = (observed, value)
        if not check and last != {"wanted": value, "observed": after}:
            left[name][key] = {"wanted": value, "observed": after}
            save(system, LEFT, left)
    return changes


def _add_unstored(values: dict[str, Any], key: str, observed: object) -> bool:
    """Add the parts of a value that an earlier release did not observe, and so did not change."""
    old = values[key]
    if not isinstance(observed, dict) or not isinstance(old, dict) or observed.keys() <= old.keys():
        return False
    values[key] = {**observed, **old}
    return True


def restore(system: System, check: bool) -> tuple[Changes, list[str], list[str]]:
    """Restore settings, modules and files; return changes, new packages, which stay, and failures.

    After failures, call it again.
    """
    before = load(system, BEFORE)
    changes: Changes = {}
    failures: list[str] = []
    if not before:
        return changes, [], failures
    for name in reversed(KINDS):
        for key, value in before.get(name, {}).items():
            if not KINDS[name].is_there(system, key):
                continue
            if key.startswith("/proc/irq/") and before.get("boot") != _boot(system):
                continue  # the number may be another device's interrupt now
            try:
                observed = KINDS[name].observe(system, key)
                if not check:
                    KINDS[name].restore(system, key, value)
            except (StateError, OSError) as error:
                failures.append(f"{name} {key}: {error}")
                continue
            if observed != value and (observed is not None or name != "kernel_files"):  # None: unreadable
                changes[f"{name} {key}"] = (observed, value)
    _unload_modules(system, before, changes, failures, check)
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
            observed = _observed(system, kind, key, check=True)
            is_unknown = observed is None and key.startswith("/sys/kernel/debug/") and not system.is_root()
            if not is_unknown and (last is None or kind.has_drifted(observed, last["observed"])):
                found.append(f"{name} {key}")
    return found


def named_modules(system: System) -> set[str]:
    """Return the modules that provisioning loads at boot."""
    return set(system.read("/etc/modules-load.d/rogue.conf").replace("-", "_").split())


def packages(system: System) -> list[str]:
    """Return the installed packages."""
    for command in _PACKAGES:
        with contextlib.suppress(CommandError):
            lines = (line.split() for line in system.run(command).splitlines())
            if found := sorted({words[-1] for words in lines if words[0][1:2] == "i"}):
                return found
    raise StateError(
        "installed packages: neither dpkg-query nor rpm lists any; repair the one that this system has"
    )


def _loaded(system: System) -> list[str]:
    """Return the loaded modules that can be unloaded."""
    return sorted(path.parent.name for path in system.path("/sys/module").glob("*/refcnt"))


def _set(system: System, before: Document, name: str, key: str, value: object) -> None:
    """Set a value, and store the modules that the kernel loads for it."""
    loaded = set(_loaded(system))
    try:
        KINDS[name].set(system, key, value)
    finally:
        if more := set(_loaded(system)) - loaded:
            before["loaded_by_settings"] = sorted(more.union(before.get("loaded_by_settings", [])))
            save(system, BEFORE, before)


def _unload_modules(
    system: System, before: Document, changes: Changes, failures: list[str], check: bool
) -> None:
    """Unload the modules of roles, and those that came with them, unless they were loaded before.

    A module came with them if one of them needs it or it needs one of them. Others may belong to other
    software. Drivers of devices, and modules that they need, stay loaded, because a card may have the network
    that Ansible uses.
    """
    named = named_modules(system)
    family: set[str] = set()
    more = {*named, *before.get("loaded_by_settings", [])}
    while more - family:
        family |= more
        needed = {each for each in _loaded(system) if _users(system, each) & family}
        more = needed.union(*(_users(system, each) for each in family))
    new = family & set(_loaded(system)) - set(before.get("modules", family))
    left = sorted(each for each in new if not system.path(f"/sys/module/{each}/drivers").exists())
    changes.update({f"module {each}": ("loaded", "not loaded") for each in left})
    if check:
        return
    while unused := [each for each in left if system.read(f"/sys/module/{each}/refcnt") == "0"]:
        with contextlib.suppress(CommandError):
            system.run(["rmmod", *unused])
        still = [each for each in left if each in _loaded(system)]
        if still == left:
            break
        left = still
    ours = (each for each in left if each in named and _users(system, each) <= {*left})
    failures += [f"module {each}: in use; end the programs that use it" for each in ours]


def _users(system: System, module: str) -> set[str]:
    return {path.name for path in system.path(f"/sys/module/{module}/holders").glob("*")}


def _boot(system: System) -> str:
    return system.read("/proc/sys/kernel/random/boot_id")


def _observed(system: System, kind: Kind, key: str, check: bool) -> object:
    """Return the value; in check mode None if an earlier task would first have to bring it."""
    try:
        return kind.observe(system, key)
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
        if observed == value or (failures and path.startswith("/etc/modules-load.d")):
            continue  # the next call needs the names of modules that are in use now
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
