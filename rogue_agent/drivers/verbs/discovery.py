"""Find the RDMA device, port and GID of an experiment address in sysfs."""

import ipaddress
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rogue.agent.drivers.verbs.pyverbs import VerbsUnavailable

SYSFS = Path("/sys/class/infiniband")
_GID_TYPE = "RoCE v2"
_GIDS_SHOWN = 8
_ATTRIBUTE_BYTES = 4096
_UNUSED_GID = "0000:0000:0000:0000:0000:0000:0000:0000"


@dataclass(frozen=True)
class PortAddress:
    """One port of a device and the entry of its GID table for the experiment address."""

    device: str
    port: int
    gid_index: int
    gid: str
    rate_bps: int
    netdev: str = ""
    driver: str = ""
    state: str = ""
    hca_type: str = ""
    """Model of the device, such as MT4103; a software device has none."""


def find_port(address: str, sysfs: Path = SYSFS, known: Sequence[PortAddress] = ()) -> PortAddress:
    """Return the first RoCE v2 GID that is `address`; the table has IPv4 addresses as ::ffff:a.b.c.d.

    known: the ports found before, if they cannot change; otherwise all tables are read.
    """
    wanted = gid_of(address)
    for found in known or roce_ports(sysfs):
        if found.gid == wanted:
            return found
    others = [f"{port.parts[-3]}/{port.name}: {gid}" for port in _ports(sysfs) for _, gid in _gids(port)]
    listing = "; ".join(others[:_GIDS_SHOWN]) or "no RDMA device with an address"
    raise VerbsUnavailable(f"no {_GID_TYPE} GID for experiment address {address}; this node has {listing}")


def current_gid_index(port: PortAddress, sysfs: Path | None = None) -> int:
    """Return the current index of the port's GID, which changes if the interface went down and up.

    Without such a GID, return the first index, which the kernel then refuses.
    """
    place = (SYSFS if sysfs is None else sysfs) / port.device / "ports" / str(port.port)
    if _read(place / "gids" / str(port.gid_index)) == port.gid or not (place / "gids").is_dir():
        return port.gid_index
    types = place / "gid_attrs" / "types"
    found = (each for each, gid in _gids(place) if gid == port.gid and _read(types / str(each)) == _GID_TYPE)
    return next(found, port.gid_index)


def roce_ports(sysfs: Path = SYSFS, *, is_fresh: bool = False) -> list[PortAddress]:
    """Return all RoCE v2 GIDs of this node, in the order of devices, ports and tables.

    is_fresh: no address has been removed since the devices appeared, so tables have no gaps.
    """
    return [
        PortAddress(
            device=port.parts[-3],
            port=int(port.name),
            gid_index=index,
            gid=gid,
            rate_bps=_rate_bps(port),
            netdev=_read(port / "gid_attrs" / "ndevs" / str(index)),
            driver=_driver(port.parents[1]),
            state=_read(port / "state").partition(": ")[2],
            hca_type=_read(port.parents[1] / "hca_type"),
        )
        for port in _ports(sysfs)
        for index, gid in _gids(port, is_fresh=is_fresh)
        if _read(port / "gid_attrs" / "types" / str(index)) == _GID_TYPE
    ]


def _driver(device: Path) -> str:
    """Return the name of a device's kernel driver; a software device has no hardware and no name."""
    try:
        return (device / "device" / "driver").readlink().name
    except OSError:
        return "software"


def gid_of(address: str) -> str:
    """Write an IP address as a GID, the only form pyverbs takes: eight groups of four digits."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        raise VerbsUnavailable(f"the experiment address {address!r} is not an IP address") from None
    if isinstance(parsed, ipaddress.IPv4Address):
        parsed = ipaddress.IPv6Address(f"::ffff:{parsed}")
    return parsed.exploded


def _ports(sysfs: Path) -> list[Path]:
    return sorted(sysfs.glob("*/ports/*"))


def _gids(port: Path, *, is_fresh: bool = False) -> Iterator[tuple[int, str]]:
    """Yield the used entries of a GID table by index; a fresh table ends at the first unused one."""
    for path in sorted((port / "gids").iterdir(), key=lambda path: int(path.name)):
        gid = _read(path)
        if gid and gid != _UNUSED_GID:
            yield int(path.name), gid
        elif is_fresh:
            return


def _rate_bps(port: Path) -> int:
    """Return the port's speed from text such as `40 Gb/sec (4X QDR)`; 0 if unknown."""
    words = _read(port / "rate").split()
    try:
        return int(float(words[0]) * 1e9) if words[1] == "Gb/sec" else 0
    except (IndexError, ValueError):
        return 0


def _read(path: Path) -> str:
    """Read a sysfs attribute; return "" if the kernel refuses, as for unused table entries.

    It uses few system calls, because a device has a thousand entries.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return ""
    try:
        return os.read(descriptor, _ATTRIBUTE_BYTES).decode().strip()
    except OSError:
        return ""
    finally:
        os.close(descriptor)
