from rogue.simulator import PROFILES


def test_the_registry_names_each_profile() -> None:
    assert set(PROFILES) == {"cx3pro", "cx4", "ideal", "soft_roce"}
    assert all(name == profile.name and profile.revision >= 1 for name, profile in PROFILES.items())


def test_connectx3_has_the_published_limits() -> None:
    profile = PROFILES["cx3pro"]
    assert (profile.limiter_scope, profile.limiters) == ("per_priority", 8)
    assert profile.rate_step_bps == 100_000_000
    assert profile.actuation_lag_bytes_max == 160_000
    assert profile.clock_drift_ppm_max == 50.0
    assert profile.ack_every_packets == 64


def test_connectx3_has_its_quirk_and_the_times_of_table_1() -> None:
    profile = PROFILES["cx3pro"]
    assert (profile.revision, profile.withholds_next_verb) == (3, True)
    assert (profile.pci_rc_ns, profile.pci_uc_ns) == (2_000, 6_000)
    assert (profile.pci_late_ns, profile.pci_late_probability) == (2_000, 0.125)


def test_connectx4_has_a_limiter_for_each_queue_pair() -> None:
    profile = PROFILES["cx4"]
    assert (profile.limiter_scope, profile.limiters) == ("per_qp", 0)
    assert (profile.rate_step_bps, profile.actuation_lag_bytes_max) == (100_000_000, 160_000)
    assert not profile.withholds_next_verb


def test_the_ideal_card_has_no_flaw() -> None:
    profile = PROFILES["ideal"]
    assert (profile.rate_step_bps, profile.actuation_lag_bytes_max, profile.clock_drift_ppm_max) == (0, 0, 0)


def test_soft_roce_has_what_linux_says() -> None:
    profile = PROFILES["soft_roce"]
    assert (profile.ack_every_packets, profile.unacknowledged_packets_max) == (64 + 2, 128 + 1)
    assert (profile.rate_step_bps, profile.actuation_lag_bytes_max, profile.clock_drift_ppm_max) == (0, 0, 0)
