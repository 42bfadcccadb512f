import io

from rogue.agent.core.clocks import HostNs
from rogue.agent.drivers.recording import THROUGHPUT_COLUMNS, Table, ThroughputMeter


def metered() -> tuple[ThroughputMeter, io.StringIO]:
    file = io.StringIO()
    return ThroughputMeter(Table(file, THROUGHPUT_COLUMNS), 100), file


def rows(file: io.StringIO) -> list[str]:
    return file.getvalue().splitlines()[1:]


def test_bytes_count_in_the_interval_in_which_they_arrive() -> None:
    meter, file = metered()
    meter.start(HostNs(1_000))
    meter.add(HostNs(1_050), 10)
    meter.add(HostNs(1_099), 5)
    meter.add(HostNs(1_100), 7)
    meter.close(HostNs(1_200))
    assert rows(file) == ["1100,100,15,,", "1200,100,7,,"]


def test_an_interval_without_arrivals_is_a_row_too() -> None:
    meter, file = metered()
    meter.start(HostNs(0))
    meter.add(HostNs(350), 1)
    meter.close(HostNs(399))
    assert rows(file) == ["100,100,0,,", "200,100,0,,", "300,100,0,,", "399,99,1,,"]


def test_a_first_interval_of_another_length_leads_to_the_common_grid() -> None:
    file = io.StringIO()
    meter = ThroughputMeter(Table(file, THROUGHPUT_COLUMNS), 100, first_ns=30)
    meter.start(HostNs(1_070))
    meter.add(HostNs(1_090), 10)
    meter.add(HostNs(1_150), 5)
    meter.close(HostNs(1_200))
    meter.close(HostNs(1_250))
    assert rows(file) == ["1100,30,10,,", "1200,100,5,,"]


def test_estimates_are_averaged_and_the_limit_is_the_one_at_the_end() -> None:
    meter, file = metered()
    meter.start(HostNs(0))
    meter.limit(HostNs(10), 400)
    meter.estimate(HostNs(20), 10.0)
    meter.estimate(HostNs(30), 20.0)
    meter.limit(HostNs(150), 800)
    meter.close(HostNs(200))
    assert rows(file) == ["100,100,0,15.0,400", "200,100,0,,800"]


def test_before_the_start_bytes_are_only_added_up() -> None:
    meter, file = metered()
    meter.add(HostNs(5), 10)
    meter.close(HostNs(10_000))
    assert (meter.total_bytes, rows(file)) == (10, [])
