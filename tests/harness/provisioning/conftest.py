"""Two hosts and a Linux switch, listed by Ansible once."""

import pytest
from helpers.nodes import write_inventory

from rogue.harness.provisioning.inventory import Inventory, load_inventory


@pytest.fixture(scope="session")
def inventory(tmp_path_factory: pytest.TempPathFactory) -> Inventory:
    return load_inventory(write_inventory(tmp_path_factory.mktemp("nodes")))
