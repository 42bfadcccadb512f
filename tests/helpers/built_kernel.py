"""The real kernel, for tests that run cells in it and are marked with needs("kernel")."""

from rogue.harness.testbeds.kernel import KernelTestbed
from rogue.virtual.errors import VirtualTestbedError
from rogue.virtual.kernel.boot import Kernel
from rogue.virtual.kernel.build import cache_directory, present


def built() -> Kernel | None:
    """The kernel, if it was built here."""
    try:
        return present(cache_directory())
    except VirtualTestbedError:
        return None


def built_testbed() -> KernelTestbed:
    """A testbed whose kernel is there already: building it takes minutes."""
    kernel = built()
    assert kernel is not None, 'no kernel here; is the test marked with needs("kernel")?'
    return KernelTestbed(kernel)
