"""Every key of a cell is carried out or refused by name, on each testbed: nothing asked for vanishes."""

from collections.abc import Callable
from functools import cache

import pytest
from helpers import cell_keys
from helpers.cell_keys import (
    FAULTS_OWN,
    MORE,
    NEEDED,
    OF_BASES,
    PAIRS_OWN,
    PAUSES,
    TOPOLOGY,
    Case,
    Parameter,
    group,
    keys_of,
    mapping,
)
from helpers.cell_kinds import TOPOLOGIES_OWN, WORKLOADS_OWN
from helpers.experiments import cell_of
from helpers.testbed_orders import kernel_orders, node_orders, nodes_of, refusal, simulator_orders

from rogue.harness.cell.cell import Cell
from rogue.harness.cell.group_settings import OPTIONS
from rogue.harness.experiment.choices import MEASURES, MeasureChoice, TrafficGroup, TransportChoice
from rogue.harness.experiment.model import Experiment
from rogue.harness.testbeds.kernel import KernelTestbed
from rogue.harness.testbeds.kernel.outcome import NOT_MEASURED
from rogue.harness.testbeds.simulator import SimulatorTestbed
from rogue.simulator import RELIABILITIES
from rogue.workloads.faults import FAULTS
from rogue.workloads.probes import PROBES
from rogue.workloads.topologies import TOPOLOGIES
from rogue.workloads.traffic import WORKLOADS
from rogue.workloads.traffic.pairs import Pair

NOT_OF_A_CELL = {
    "name",
    "title",
    "question",
    "factors",
    "repetitions",
    "scale",
    "scales",
    "agree_within",
    "plugins",
}
"""Where results are stored, for people, what is applied before there is a cell, or judged after all."""
CASES = [*cell_keys.section_cases(), *cell_keys.group_cases(), *MORE]
PARAMETERS = list(cell_keys.parameters())
Planned = Callable[..., Cell]


@pytest.fixture(scope="module")
def cell(tmp_path_factory: pytest.TempPathFactory) -> Planned:
    """The cell of some settings, planned once."""
    directory = tmp_path_factory.mktemp("cells")
    return cache(lambda *settings: cell_of(directory, *settings, text=cell_keys.BASE))


@pytest.fixture(scope="module")
def of_kernel(cell: Planned) -> Callable[..., tuple[str, ...]]:
    """Return a function for the orders of a kernel."""
    return cache(lambda *settings: kernel_orders(cell(*settings)))


@pytest.fixture(scope="module")
def of_simulator(cell: Planned) -> Callable[..., tuple[str, ...]]:
    """Return a function for the calls of the engine."""

    @cache
    def orders(*settings: str) -> tuple[str, ...]:
        with pytest.MonkeyPatch.context() as monkeypatch:
            return simulator_orders(cell(*settings), monkeypatch)

    return orders


def test_every_key_has_a_case() -> None:
    """A new key is added here with its effect."""
    assert keys_of(Experiment) - NOT_OF_A_CELL == {
        "topology", "workload", "traffic", "probe", "transports", "faults", "seed", "measure", "time_limit",
    }  # fmt: skip
    assert keys_of(TransportChoice) == {"name", "label", "parameters"}
    assert keys_of(TrafficGroup) == {"name", "workload", "transport", "parameters", "priority"}
    assert keys_of(Pair) == set(PAIRS_OWN)
    assert {f"measure.{kind}" for kind in MEASURES} <= {case.key for case in MORE}
    own = keys_of(MeasureChoice) - {"interval", "required"}
    assert {f"measure.packets.{key}" for key in own} <= {case.key for case in MORE}
    assert {f"probe.{key}" for kind in PROBES.values() for key in keys_of(kind)} <= {
        case.key for case in MORE
    }
    variants = {name for name in RELIABILITIES if name.startswith("go-back-n-")}
    tcps = {name for name, kind in RELIABILITIES.items() if kind.controls_window}
    assert {*OF_BASES.values(), *tcps, *variants} == set(RELIABILITIES)
    cases = {case.key for case in CASES}
    for section, kinds, own in (("workload", WORKLOADS, WORKLOADS_OWN), ("faults", FAULTS, FAULTS_OWN)):
        assert set(kinds) == set(own)
        keys = {f"{section}.{name}.{key}" for name, kind in kinds.items() for key in keys_of(kind)}
        assert keys <= cases
    assert set(TOPOLOGIES) == set(TOPOLOGIES_OWN)
    for name, kind in TOPOLOGIES.items():
        usual, others = TOPOLOGIES_OWN[name]
        assert keys_of(kind) == {
            *usual,
            *others,
            *TOPOLOGY,
            *PAUSES,
            "pause_watchdog_restore",
            "nic_limiters",
            "weights",
            "switch_controls",  # see simulator/test_switch_controls.py: there is none without a plug-in
        }


@pytest.mark.parametrize("case", CASES, ids=str)
def test_key_on_the_simulator(
    case: Case, cell: Planned, of_simulator: Callable[..., tuple[str, ...]]
) -> None:
    usual, asked = _settings(case)
    bed = SimulatorTestbed()
    if not _is_refused(case.key, refusal(bed, cell(*usual)), refusal(bed, cell(*asked))):
        assert of_simulator(*usual) != of_simulator(*asked)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_key_on_nodes(case: Case, cell: Planned, monkeypatch: pytest.MonkeyPatch) -> None:
    usual, asked = _settings(case)
    assert _is_known_to_nodes(case.key, cell(*usual), cell(*asked), monkeypatch)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_key_in_a_kernel(case: Case, cell: Planned, of_kernel: Callable[..., tuple[str, ...]]) -> None:
    usual, asked = _settings(case)
    bed = KernelTestbed()
    if _is_refused(case.key, refusal(bed, cell(*usual)), refusal(bed, cell(*asked))):
        return
    is_not_measured = any(word in NOT_MEASURED for word in case.key.split("."))
    assert is_not_measured or of_kernel(*usual) != of_kernel(*asked)


@pytest.mark.parametrize("parameter", PARAMETERS, ids=str)
def test_group_parameter_in_a_kernel(
    parameter: Parameter, cell: Planned, of_kernel: Callable[..., tuple[str, ...]]
) -> None:
    usual = group(parameter.transport, {})
    bed = KernelTestbed()
    for other in parameter.others:
        asked = group(parameter.transport, {parameter.key: other})
        if not _is_refused(parameter.key, refusal(bed, cell(*usual)), refusal(bed, cell(*asked))):
            assert of_kernel(*usual) != of_kernel(*asked)


@pytest.mark.parametrize("parameter", PARAMETERS, ids=str)
def test_group_parameter_on_the_simulator(
    parameter: Parameter, cell: Planned, of_simulator: Callable[..., tuple[str, ...]]
) -> None:
    bed, beside = SimulatorTestbed(), NEEDED.get(parameter.key, {})
    for other in parameter.others:
        asked = group(parameter.transport, {**beside, parameter.key: other})
        reason = refusal(bed, cell(*asked))
        if reason is None:
            assert of_simulator(*group(parameter.transport, beside)) != of_simulator(*asked)
            return
        assert reason.startswith(parameter.key)
    assert parameter.key in OPTIONS, "no other value of it can be"


@pytest.mark.parametrize("parameter", PARAMETERS, ids=str)
def test_group_parameter_on_nodes(
    parameter: Parameter, cell: Planned, monkeypatch: pytest.MonkeyPatch
) -> None:
    _check_on_nodes(parameter, lambda values: cell(*group(parameter.transport, values)), monkeypatch)


@pytest.mark.parametrize("parameter", {each.transport: each for each in PARAMETERS}.values(), ids=str)
def test_cell_parameter_on_nodes(
    parameter: Parameter, cell: Planned, monkeypatch: pytest.MonkeyPatch
) -> None:
    def planned(values: cell_keys.Values) -> Cell:
        return cell(f"transports=[{mapping({'name': parameter.transport, 'label': 'x', **values})}]")

    _check_on_nodes(parameter, planned, monkeypatch)


def _check_on_nodes(
    parameter: Parameter, planned: Callable[[cell_keys.Values], Cell], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A value that the nodes take reaches them; one that they do not take is named."""
    usual = planned({})
    bed, _ = nodes_of(usual, monkeypatch)
    if refusal(bed, usual) is not None:
        return
    for other in parameter.others:
        asked = planned({parameter.key: other})
        if refusal(bed, asked) is None:
            assert _is_known_to_nodes(parameter.key, usual, asked, monkeypatch)
            return
        assert _is_refused(parameter.key, None, refusal(bed, asked))


def _settings(case: Case) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(case.beside), (*case.beside, *case.stated)


def _is_known_to_nodes(key: str, usual: Cell, asked: Cell, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Nodes and switch have the network of the usual cell."""
    bed, _ = nodes_of(usual, monkeypatch)
    if _is_refused(key, refusal(bed, usual), refusal(bed, asked)):
        return True
    results = [node_orders(*nodes_of(usual, monkeypatch), cell) for cell in (usual, asked)]
    is_not_measured = any(word in results[1].not_measured for word in key.split("."))
    return is_not_measured or results[0].orders != results[1].orders


def _is_refused(key: str, usual: str | None, asked: str | None) -> bool:
    """Return True if a cell is refused with a reason that names the key, or cannot run here at all."""
    if usual is not None or asked is None:
        return usual is not None
    words = (*key.split("."), "the inventory has no h")
    assert any(word in asked for word in words), f"{asked!r} does not name {key}"
    return True
