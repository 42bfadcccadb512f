"""Models of RDMA cards, with their drivers' names."""

from typing import Final, NamedTuple


class Card(NamedTuple):
    """A model of card."""

    name: str
    rate_bps: int
    """Rate of one port of the fastest version."""
    profile: str | None = None
    """Name in the simulator; None if the simulator has none."""


CARDS: Final = {
    "MT4103": Card("ConnectX-3 Pro", 40_000_000_000, "cx3pro"),
    "MT4115": Card("ConnectX-4", 100_000_000_000, "cx4"),
    "MT4117": Card("ConnectX-4 Lx", 50_000_000_000),
    "MT4119": Card("ConnectX-5", 100_000_000_000),
    "MT4121": Card("ConnectX-5 Ex", 100_000_000_000),
    "MT4123": Card("ConnectX-6", 200_000_000_000),
    "MT4125": Card("ConnectX-6 Dx", 200_000_000_000),
    "MT4127": Card("ConnectX-6 Lx", 50_000_000_000),
    "MT4129": Card("ConnectX-7", 400_000_000_000),
    "MT41686": Card("BlueField-2", 200_000_000_000),
}
"""By `hca_type` of sysfs, which is MT and the PCI device number. Source: Linux, tables of PCI devices in
drivers/net/ethernet/mellanox/mlx4/main.c (0x1007) and mlx5/core/main.c (0x1013 to 0x1021, 0xa2d6); rates:
NVIDIA, "Linux Kernel Upstream Release Notes v5.17", supported NICs and their speeds, without 56GbE, which is
the vendor's own; ConnectX-7: its product brief. The network part of BlueField-2 is a ConnectX-6 Dx."""


def card_name(hca_type: str) -> str:
    """Return the name of a card; for an unknown one the driver's word."""
    card = CARDS.get(hca_type)
    return card.name if card else hca_type


def card_profile(hca_type: str) -> str | None:
    """Return the simulator's name for a card; None if it has none."""
    card = CARDS.get(hca_type)
    return card.profile if card else None
