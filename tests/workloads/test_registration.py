import pytest

from rogue.workloads.registration import ADDED, add, check_class


def test_an_entry_is_in_all_its_registries_or_in_none() -> None:
    names: dict[str, int] = {"old": 1}
    also: dict[str, int] = {}
    with pytest.raises(ValueError, match="a second thing old, expected a name that no other thing has"):
        add("thing", "old", 2, also, names)
    assert (names, also) == ({"old": 1}, {})
    add("thing", "new", 2, names, also)
    added = ADDED.pop()
    assert (str(added), names, also) == ("thing new", {"old": 1, "new": 2}, {"new": 2})
    added.remove()
    assert (names, also) == ({"old": 1}, {})


def test_only_subclasses_are_of_a_kind() -> None:
    check_class("number", bool, int)
    for entry in (3, str):
        with pytest.raises(ValueError, match="as a number, expected a subclass of int"):
            check_class("number", entry, int)
