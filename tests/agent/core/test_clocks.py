import pytest

from rogue.agent.core.clocks import HostNs, earlier


@pytest.mark.parametrize(
    ("one_ns", "other_ns", "first_ns"), [(None, None, None), (3, None, 3), (None, 4, 4), (3, 4, 3), (5, 4, 4)]
)
def test_what_never_comes_is_not_the_earlier(
    one_ns: HostNs | None, other_ns: HostNs | None, first_ns: HostNs | None
) -> None:
    assert earlier(one_ns, other_ns) == first_ns
