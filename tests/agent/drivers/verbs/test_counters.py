import ast
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.fake_verbs import fake_sysfs
from helpers.verbs_ends import PORT

from rogue import agent
from rogue.agent.drivers.verbs.card_facts import read_counters


def test_what_counts_is_read_and_the_rest_left_out(tmp_path: Path) -> None:
    fake_sysfs(tmp_path, PORT.gid)
    (tmp_path / "rxe0" / "ports" / "1" / "hw_counters" / "broken").write_text("n/a\n")
    assert read_counters(tmp_path, PORT) == {"sent_pkts": 17}


def test_a_port_without_counters_has_none(tmp_path: Path) -> None:
    assert read_counters(tmp_path, PORT) == {}


MLX5 = """NIC statistics:
     rx_packets: 5
     rx0_packets: 5
     rx_out_of_buffer: 2
     rx_prio3_bytes: 900
     rx_prio3_pause: 4
     rx_prio3_pause_duration: 77
     tx_prio3_pause: 3
     rx_prio3_marked: 6
     rx_prio3_buf_discard: 1
"""
MLX4 = """NIC statistics:
     rx_pause_prio_3: 4
     rx_pause_duration_prio_3: 77
     tx_pause_transition_prio_3: 1
     rx_prio_3_packets: 9
     tx_prio_3_bytes: 800
     rx_prio_8_packets: 1
     tx0_packets: 3
"""


@pytest.mark.parametrize(
    ("driver", "shown", "names"),
    [
        (
            "mlx5_core",
            MLX5,
            "rx_out_of_buffer rx_prio3_bytes rx_prio3_pause rx_prio3_pause_duration tx_prio3_pause "
            "rx_prio3_marked rx_prio3_buf_discard",
        ),
        (
            "mlx4_core",
            MLX4,
            "rx_pause_prio_3 rx_pause_duration_prio_3 tx_pause_transition_prio_3 rx_prio_3_packets "
            "tx_prio_3_bytes rx_prio_8_packets",
        ),
    ],
)
def test_a_card_tells_pauses_marks_and_losses_by_priority(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, driver: str, shown: str, names: str
) -> None:
    program = tmp_path / "ethtool"
    program.write_text(f"#!/bin/sh\n[ \"$1 $2\" = '-S eth1' ] && echo '{shown}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    card = replace(PORT, driver=driver, netdev="eth1")
    assert list(read_counters(tmp_path, card)) == [f"ethtool_{name}" for name in names.split()]
    monkeypatch.setenv("PATH", "")
    assert read_counters(tmp_path, card) == {}, "a node without ethtool has none of them"


def test_counters_of_the_whole_device_are_told_apart(tmp_path: Path) -> None:
    """mlx4 has some of its counters once per device."""
    directory = tmp_path / PORT.device / "hw_counters"
    directory.mkdir(parents=True)
    (directory / "rq_num_oos").write_text("3\n")
    assert read_counters(tmp_path, PORT) == {"device_rq_num_oos": 3}


def test_no_program_is_started_by_a_fork_beside_registered_memory() -> None:
    """These would keep `subprocess` from `vfork`; who forks is the supervisor, which registers nothing."""
    forking = {"preexec_fn", "user", "group", "extra_groups"}
    own, forkers = Path(agent.__path__[0]), set[str]()
    for file in sorted(own.rglob("*.py")):
        for call in (node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)):
            assert not forking & {word.arg for word in call.keywords}, f"{file}:{call.lineno}"
            if ast.unparse(call.func) in ("os.fork", "os.system", "os.popen", "multiprocessing.Process"):
                forkers.add(str(file.relative_to(own)))
    assert forkers == {"node/forked.py", "node/serve.py"}
