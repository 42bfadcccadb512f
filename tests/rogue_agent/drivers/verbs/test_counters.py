from pathlib import Path

from helpers.fake_verbs import fake_sysfs
from helpers.verbs_ends import PORT

from rogue_agent.drivers.verbs.counters import read_counters


def test_what_counts_is_read_and_the_rest_left_out(tmp_path: Path) -> None:
    fake_sysfs(tmp_path, PORT.gid)
    (tmp_path / "rxe0" / "ports" / "1" / "hw_counters" / "broken").write_text("n/a\n")
    assert read_counters(tmp_path, PORT) == {"sent_pkts": 17}


def test_a_port_without_counters_has_none(tmp_path: Path) -> None:
    assert read_counters(tmp_path, PORT) == {}
