"""What nodes of each kind can run of the paper's experiments, as `rogue plan` would say it of them."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

from helpers.fake_agents import CAPABILITIES, fake_inventory

from rogue.agent.node.messages import Capabilities
from rogue.harness.experiment.load import load_experiment
from rogue.harness.plan.cells import plan_cells
from rogue.harness.testbeds.ssh.support import unsupported
from rogue.harness.testbeds.ssh.testbed import SshTestbed

EXPERIMENTS = Path(__file__).parents[2] / "experiments/rogue-paper"
HOSTS = 33
OF_ITS_OWN_CARD = "topology.nic=null"


class Kind(NamedTuple):
    """A kind of node: its card, and the rate of its experiment port."""

    hca_type: str
    driver: str
    rate_bps: int

    @property
    def settings(self) -> list[str]:
        """What experiments that name the paper's card need on another one."""
        rate = f"topology.rate={self.rate_bps // 10**9}Gbps"
        return [] if self.hca_type == "MT4103" else [OF_ITS_OWN_CARD, rate]


KINDS = {
    "m510": Kind("MT4103", "mlx4_core", 10_000_000_000),
    "xl170": Kind("MT4117", "mlx5_core", 25_000_000_000),
    "c6525-25g": Kind("MT4119", "mlx5_core", 25_000_000_000),
    "d6515": Kind("MT4119", "mlx5_core", 100_000_000_000),
    "r650": Kind("MT4123", "mlx5_core", 100_000_000_000),
}
"""Source: CloudLab, hardware page; cards by PCI ids of Linux's driver tables."""


class Judged(NamedTuple):
    """What becomes of an experiment on nodes of one kind."""

    hosts: int
    cells: int
    planned: int
    transports: tuple[str, ...]
    """Those with a cell that can run."""
    reasons: tuple[str, ...]
    seconds: float


@cache
def judge(name: str, kind: str) -> Judged:
    """Plan an experiment on a switch that nobody sets up."""
    of, inventory = KINDS[kind], replace(fake_inventory(HOSTS), switch=None)
    nodes = {host.name: _node(of, str(host.variables.experiment_address)) for host in inventory.hosts}
    cells = plan_cells(load_experiment(str(EXPERIMENTS / f"{name}.yaml"), of.settings))
    said = [(cell, unsupported(cell, inventory, nodes)) for cell in cells]
    fit = [cell for cell, reason in said if reason is None]
    testbed = SshTestbed("nodes", Path("nodes.yaml"))
    return Judged(
        len(cells[0].topology.host_names()),
        len(cells),
        len(fit),
        tuple(dict.fromkeys(str(cell.transport.name) for cell in fit)),
        tuple(dict.fromkeys(reason for _, reason in said if reason)),
        sum(testbed.estimate_seconds(cell) for cell in fit),
    )


def table() -> str:
    """The rows of docs/RACKS.md: what runs on a switch that nobody sets up, and what it costs.

    TCPs are left out, for they need a switch that marks, or measure another TCP than they are called.
    """
    rows = ["| experiment | hosts | runs | minutes | node-hours |", "| --- | --: | --- | --: | --: |"]
    for name in names():
        judged = judge(name, "m510")
        own = [transport for transport in judged.transports if transport.startswith(("rogue", "roce"))]
        hours = judged.hosts * judged.seconds / 3_600
        cost = f"{judged.seconds / 60:.0f} | {hours:.1f}" if own else "-- | --"
        rows.append(f"| `{name}` | {judged.hosts} | {', '.join(own) or 'nothing'} | {cost} |")
    return "\n".join(rows)


def names() -> Iterator[str]:
    """Experiments of the paper's figures."""
    return (path.stem for path in sorted(EXPERIMENTS.glob("*.yaml")))


def _node(kind: Kind, address: str) -> Capabilities:
    port = {
        "device": "mlx", "driver": kind.driver, "hca_type": kind.hca_type, "address": address,
        "netdev": "eth1", "rate_bps": kind.rate_bps,
    }  # fmt: skip
    return replace(CAPABILITIES, ports=[port], limiters=["dcb:eth1", "software"])
