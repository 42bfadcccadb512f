import pytest
from ansible_collections.rogue.testbed.plugins.module_utils.package_managers.package_manager import (
    PackageManager,
)


def test_a_manager_without_all_that_it_must_do_is_none() -> None:
    with pytest.raises(TypeError, match="abstract"):
        PackageManager()  # type: ignore[abstract]
