from rogue_agent.drivers.verbs import clock


def test_posts_and_completions_are_stamped_by_one_clock_that_never_goes_back() -> None:
    readings = [clock.nic_ns(), clock.host_ns(), clock.nic_ns()]
    assert readings == sorted(readings)
    assert clock.NAME == "host"
