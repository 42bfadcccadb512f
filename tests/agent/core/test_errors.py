from rogue.agent.core.errors import NicError, SettingsError


def test_a_settings_error_says_what_was_got_and_what_was_expected() -> None:
    error = SettingsError("alpha_packets", -1, "a number of at least 0")
    assert str(error) == "alpha_packets: got -1, expected a number of at least 0"
    assert (error.key, error.got) == ("alpha_packets", -1)


def test_a_nic_error_names_the_queue_pair() -> None:
    assert str(NicError(17, "completion of verb 3")) == "queue pair 17: completion of verb 3"
