"""The origin of the numbers: code, versions, machine, parameters, seeds, commands."""

import shlex
from dataclasses import dataclass

import yaml
from pydantic import JsonValue

from rogue.reports.export.captures.capture import missed_text
from rogue.reports.quantities import counted, duration_text, joined, size_text
from rogue.reports.reading.files import repeating_command
from rogue.workloads.manifest import Git, Manifest
from rogue.workloads.records import CellStatus

Facts = list[tuple[str, str]]
# Of more cells with the same result only the first are named.
CELLS_NAMED_MAX = 3


@dataclass(frozen=True, slots=True)
class StatusRow:
    """Cells without a result, or with several attempts, and the reason."""

    cells: str
    status: str
    kind: str
    reason: str


def counts_by_status(manifest: Manifest) -> Facts:
    """Count the cells of each status that occurs."""
    counts = [(status, sum(cell.status is status for cell in manifest.cells)) for status in CellStatus]
    return [(status.value, str(count)) for status, count in counts if count]


def status_rows(manifest: Manifest) -> list[StatusRow]:
    """Return rows of cells without a result or with failed attempts; equal ones share a row."""
    alike: dict[tuple[str, str, str], list[str]] = {}
    for cell in manifest.cells:
        if cell.status is not CellStatus.OK:
            reason = cell.message or (
                "was not run yet" if cell.status is CellStatus.PENDING else "no reason recorded"
            )
            alike.setdefault((cell.status.value, cell.failure_kind or "", reason), []).append(cell.id)
        elif cell.failed_attempts:
            reason = f"finished after {counted(len(cell.failed_attempts), 'failed attempt')}, which are kept"
            alike.setdefault((cell.status.value, "", reason), []).append(cell.id)
    return [StatusRow(_some(cells), *what) for what, cells in alike.items()]


def next_commands(manifest: Manifest, directory: str) -> Facts:
    """Return the commands that complete cells without a result."""
    statuses = {cell.status for cell in manifest.cells}
    again = f"rogue run --resume {shlex.quote(directory)}"
    commands = []
    if CellStatus.PENDING in statuses:
        commands.append(("Run the pending cells", again))
    if CellStatus.FAILED in statuses:
        commands.append(("Run the failed cells again", f"{again} --only-failed"))
    return commands


def _some(cells: list[str]) -> str:
    shown, rest = cells[:CELLS_NAMED_MAX], len(cells) - CELLS_NAMED_MAX
    return joined([*shown, f"{rest} more"]) if rest > 0 else joined(shown)


def not_measured(manifest: Manifest) -> list[str]:
    """Return the missing measurements with their reasons, each once."""
    reasons: dict[tuple[str, str], int] = {}
    for cell in manifest.cells:
        for measure, reason in cell.not_measured.items():
            reasons[measure, reason] = reasons.get((measure, reason), 0) + 1
    return [
        f"{measure}: {reason} ({counted(count, 'cell')})."
        for (measure, reason), count in sorted(reasons.items())
    ] + _unrecorded(manifest)


def _unrecorded(manifest: Manifest) -> list[str]:
    missed = {cell.id: cell.number("packets_missed") for cell in manifest.cells}
    unrecorded = [f"packets of {name}: {missed_text(int(count))}." for name, count in missed.items() if count]
    unmet = {cell.id: cell.number("packet_events_unmet") for cell in manifest.cells}
    return unrecorded + [
        f"faults of {name}: {counted(int(count), 'packet event')} had no effect; the packet never came."
        for name, count in unmet.items()
        if count
    ]


def partial_because(manifest: Manifest, problems: list[str]) -> str | None:
    """Return the sentence of the banner, or None if the run is complete."""
    total = len(manifest.cells)
    done = sum(cell.status is CellStatus.OK for cell in manifest.cells)
    if manifest.status == "running":
        return (
            f"Partial: the run had not ended when this report was made; {done} of {total} cells are finished."
        )
    if done < total or manifest.status != "complete":
        return f"Partial: {done} of {total} cells have a result. Status has the missing ones."
    if problems:
        files = counted(len(problems), "file")
        return f"Partial: all cells finished, but {files} could not be used. Status lists them."
    return None


def code_facts(manifest: Manifest) -> Facts:
    """Return commit, versions and machine; the kernel is that of the measured nodes."""
    source = manifest.source
    facts = [
        ("Commit", _commit_text(manifest.git)),
        ("Command", shlex.join(manifest.command)),
        ("Experiment file", f"{source.file}, SHA-256 {source.sha256}"),
        ("Changed by --set", ", ".join(source.set) or "nothing"),
        ("Run", manifest.run_id),
        ("Started", manifest.created_utc),
        ("Finished", manifest.finished_utc or "not recorded"),
        ("Testbed", manifest.testbed),
        ("Schema version", str(manifest.schema_version)),
        ("Versions", ", ".join(f"{name} {version}" for name, version in manifest.versions.items())),
    ]
    host = manifest.host.model_dump()
    measured = list(dict.fromkeys(cell.facts.get("node_kernel") for cell in manifest.cells))
    if kernels := [f"Linux {release}" for release in measured if release]:
        host |= {"kernel": ", ".join(kernels), "kernel_of_the_harness": manifest.host.kernel}
    return facts + [(_words(key), _value_text(key, value)) for key, value in host.items()]


def mixed_commits(manifest: Manifest) -> str | None:
    """Return a warning if the sessions of a run used different code, or None."""
    commits = list(dict.fromkeys(_commit_text(session.git) for session in manifest.sessions))
    if len(commits) < 2:
        return None
    order = "; ".join(commits)
    return f"The run was resumed with other code, so its cells may not compare. In order: {order}."


def cell_facts(manifest: Manifest) -> Facts:
    """Return the facts of all finished cells; several values where they differ."""
    done = [cell for cell in manifest.cells if cell.status is CellStatus.OK]
    seeds = sorted({cell.seed for cell in manifest.cells})
    facts: Facts = [("Seeds", ", ".join(map(str, seeds)))]
    for key in dict.fromkeys(key for cell in done for key in cell.facts if key != "reproduce"):
        known = [cell.facts[key] for cell in done if cell.facts.get(key) is not None]
        values = list(dict.fromkeys(_value_text(key, value) for value in known))
        if not values:
            continue
        shown = ", ".join(values[:4]) + (f" and {len(values) - 4} more" if len(values) > 4 else "")
        facts.append((_words(key), shown))
    return facts


def parameters_text(manifest: Manifest) -> str:
    """Return the resolved experiment as YAML, in base units."""
    return yaml.safe_dump(manifest.experiment, sort_keys=False, allow_unicode=True, width=100)


def reproduce_rows(manifest: Manifest) -> list[tuple[str, str, str, str]]:
    """Return cell, seed, duration in seconds and the command that repeats it."""
    return [
        (
            cell.id,
            str(cell.seed),
            "" if cell.wall_seconds is None else f"{cell.wall_seconds:.1f}",
            repeating_command(cell.facts) or "not recorded",
        )
        for cell in manifest.cells
    ]


def _commit_text(git: Git) -> str:
    dirty = {True: " with uncommitted changes", False: ", no uncommitted changes", None: ""}
    return f"{git.commit or 'not recorded'}{dirty[git.dirty]}"


def _words(key: str) -> str:
    """Return a key as a label: `nic_profile_revision` is `NIC profile revision`."""
    for suffix in ("_bps", "_bytes", "_ns"):
        key = key.removesuffix(suffix)
    words = [
        {"nic": "NIC", "mtu": "MTU", "qp": "QP", "cpu": "CPU", "rtt": "RTT", "rdma": "RDMA"}.get(word, word)
        for word in key.split("_")
    ]
    return " ".join([words[0][:1].upper() + words[0][1:], *words[1:]])


def _value_text(key: str, value: JsonValue) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        if key.endswith("_bps"):
            return f"{value / 1e9:.4g} Gb/s"
        if key.endswith("_ns"):
            return duration_text(value)
        if key.endswith("_bytes"):
            return f"{value:.0f} B" if value < 10_000 else size_text(value)
        return f"{value:,}".replace(",", "\u202f")
    return str(value)
