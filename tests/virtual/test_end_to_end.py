"""Tests on machines: runs over all transports, and a plug-in from outside."""

from pathlib import Path

import pandas as pd
import pytest
import yaml
from helpers.outside import check, outside
from helpers.plugin_files import RACKS, SWIFT
from helpers.real_rogue import call

from rogue.harness.provisioning.linux_switch import burst_bytes
from rogue.harness.results.run_directory import read_manifest
from rogue.virtual import persistent
from rogue.workloads.manifest import Manifest

pytestmark = pytest.mark.virtual

EXPERIMENT = Path(__file__).parents[2] / "experiments/virtual-incast.yaml"
TRANSPORTS = ("rogue", "rogue-uc", "roce", "roce-uc", "dctcp")
CONTROLLED = ("rogue", "rogue-uc", "roce", "dctcp")  # roce-uc just sends: what is whole at the end is chance
PORT_RATE_BPS = 100_000_000
PORTS_ON_THE_WAY = 3  # of the sender, of each switch
PACKET_BYTES_MAX = 1600


@pytest.fixture(scope="module")
def run(provisioned: persistent.PersistentTestbed, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Directory of a run: two senders, the network that is there, and every transport once.

    A probe would need another host: agent/test_transports.py and test_bounds.py have one.
    """
    document = yaml.safe_load(EXPERIMENT.read_text())
    document["topology"] = {"kind": "links", "file": str(RACKS), "mtu": 4096, "buffer": "1MB", "alpha": 1}
    del document["factors"], document["probe"]
    document["measure"].remove("latency")
    document["workload"] |= {"size": "1MB", "repeat_for": "4s"}
    document["transports"] = [each for each in document["transports"] if "segment" not in each]
    document["repetitions"] = 1
    place = tmp_path_factory.mktemp("end-to-end")
    file = place / EXPERIMENT.name
    file.write_text(yaml.safe_dump(document))
    words = ["--testbed", f"virtual:{provisioned.name}", "--plugin", str(SWIFT), "--out", str(place)]
    return Path(call("run", str(file), *words).splitlines()[-1])


@pytest.fixture(scope="module")
def manifest(run: Path) -> Manifest:
    """Return the manifest of the run."""
    return read_manifest(run)


def table(run: Path, transport: str, name: str) -> pd.DataFrame:
    return pd.read_parquet(run / "cells" / f"{transport}-r1" / f"{name}.parquet")


def test_every_transport_has_run(manifest: Manifest) -> None:
    outcomes = {cell.transport: (cell.status, cell.message) for cell in manifest.cells}
    assert outcomes == dict.fromkeys(TRANSPORTS, ("ok", None))


@pytest.mark.parametrize("transport", CONTROLLED)
def test_both_senders_deliver_below_the_port_rate(run: Path, transport: str) -> None:
    throughput = table(run, transport, "throughput")
    delivered = throughput.groupby("flow_id")["delivered_bytes"].sum()
    assert len(delivered) == 2
    assert (delivered > 0).all()
    elapsed_s = (throughput["t_ns"].max() - (throughput["t_ns"] - throughput["interval_ns"]).min()) / 1e9
    assert delivered.sum() * 8 / elapsed_s <= PORT_RATE_BPS


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_transfers_have_times_and_states(run: Path, transport: str) -> None:
    flows = table(run, transport, "flows")
    finished = flows[flows["status"] == "ok"]
    assert len(finished) > 0
    assert set(flows["status"]) <= {"ok", "unfinished"}
    assert set(flows["transport"]) == {transport}
    assert (finished["fct_ns"] == finished["end_ns"] - finished["start_ns"]).all()


@pytest.mark.parametrize("transport", CONTROLLED)
def test_no_transfer_is_faster_than_the_empty_network(run: Path, transport: str) -> None:
    """Over native UC a transfer ends when it is sent, which says nothing about the network.

    The last port sends at once what is in its bucket, and no port waits for a packet to be whole.
    """
    flows = table(run, transport, "flows")
    finished = flows[flows["status"] == "ok"]
    ahead_bytes = burst_bytes(PORT_RATE_BPS) + PORTS_ON_THE_WAY * PACKET_BYTES_MAX
    assert (finished["fct_ns"] >= finished["ideal_fct_ns"] - ahead_bytes * 8e9 / PORT_RATE_BPS).all()


@pytest.mark.parametrize("transport", ["rogue", "rogue-uc"])
def test_rogue_estimates_round_trips_that_the_network_can_have(run: Path, transport: str) -> None:
    samples = table(run, transport, "rtt")
    accepted = samples[samples["accepted"]]
    assert len(accepted) > 10
    lowest_ns, median_ns, highest_ns = accepted["rtt_ns"].quantile([0.05, 0.5, 0.95])
    assert 0 <= lowest_ns <= median_ns <= highest_ns < 1e9, "one sample may be off by what emulation stole"
    assert median_ns > 0


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_switch_counters_cover_the_delivered_bytes(run: Path, transport: str) -> None:
    counters = table(run, transport, "counters")
    sent = counters[(counters["node"] == "s0") & (counters["name"] == "sent_bytes")]
    passed_on = (sent["after"] - sent["before"]).max()
    assert passed_on >= table(run, transport, "throughput")["delivered_bytes"].sum()
    assert passed_on > 1_000_000


def test_without_congestion_control_the_switch_drops(run: Path) -> None:
    counters = table(run, "roce-uc", "counters")
    dropped = counters[(counters["node"] == "s0") & (counters["name"] == "dropped_packets")]
    assert (dropped["after"] - dropped["before"]).sum() > 0


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_processor_load_is_recorded(run: Path, transport: str) -> None:
    load = table(run, transport, "cpu")
    assert set(load["host"]) <= {"h0", "h1", "h2"}
    assert load["host"].nunique() >= 2
    assert load["busy_cores"].between(0, 1).all()
    assert load["busy_cores"].max() > 0.05
    assert set(load["source"]) == {"dool"}


def test_the_run_is_whole_and_its_report_names_every_transport(run: Path) -> None:
    call("verify", str(run))
    page = (run / "report.html").read_text()
    assert all(transport in page for transport in TRANSPORTS)


def test_the_same_file_runs_on_machines(provisioned: persistent.PersistentTestbed, tmp_path: Path) -> None:
    """Its network is a part of the machines'. RoGUE's cell is left out, because only the control differs."""
    file, out = outside(tmp_path / "outside"), tmp_path / "results"
    words = ["--testbed", f"virtual:{provisioned.name}", "--only-cell", "Swift-r1", "--out", str(out)]
    run = Path(call("run", str(file), *words).splitlines()[-1])
    check(run, ["Swift"])
    call("verify", str(run))
