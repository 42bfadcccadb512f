"""The real kernel, for tests that run cells in it."""

import os

import pytest

from rogue.harness.testbeds.kernel import KernelTestbed
from rogue.virtual.errors import VirtualTestbedError
from rogue.virtual.kernel.cache import cache_directory, present

BUILD = "rogue testbed kernel build"


def built_testbed() -> KernelTestbed:
    """A testbed whose kernel is there; otherwise the test is skipped, or fails where it is required."""
    try:
        kernel = present(cache_directory())
    except VirtualTestbedError:
        kernel = None
    if kernel is None and "kernel" in os.environ.get("REQUIRE", "").split(","):
        pytest.fail(f"no kernel here: {BUILD}", pytrace=False)
    if kernel is None:
        pytest.skip(f"no kernel here; have it built by: {BUILD}")
    return KernelTestbed(kernel)
