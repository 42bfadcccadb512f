"""Random networks in which pauses do harm."""

from dataclasses import replace

from helpers.random_faults import pause_faults
from helpers.random_features import flow_controls
from helpers.random_networks import RandomNetwork, networks
from hypothesis import strategies as st


@st.composite
def networks_whose_pauses_go_wrong(draw: st.DrawFn) -> RandomNetwork:
    """With NICs that pause for nothing or receive slowly, and watchdogs that drop."""
    network = draw(networks(flow_controls()))
    assert network.flow_control is not None
    watchdog_ns = draw(st.none() | st.sampled_from((1, 10_000, 90_000)))
    restore_ns = draw(st.sampled_from((1, 30_000, 10**6)))
    flow_control = replace(network.flow_control, watchdog_ns=watchdog_ns, watchdog_restore_ns=restore_ns)
    faults = tuple(draw(pause_faults(len(network.hosts))))
    return replace(network, flow_control=flow_control, pause_faults=faults)
