from rogue.virtual.errors import PrerequisiteError, VirtualTestbedError


def test_a_missing_program_is_reported_like_any_other_trouble_of_the_testbed() -> None:
    assert issubclass(PrerequisiteError, VirtualTestbedError)
