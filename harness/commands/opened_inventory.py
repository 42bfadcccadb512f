"""An inventory, after the plug-ins named beside it, which may bring the platforms of its switches."""

from rogue.harness.plugins.installed import plugins_at
from rogue.harness.plugins.trial import load_tried
from rogue.harness.provisioning.inventory import Inventory, load_inventory
from rogue.harness.provisioning.inventory_file import NamedInventory


def opened_inventory(named: NamedInventory) -> Inventory:
    """Read and check it; ConfigError or UsageError if that, or a plug-in, is not as it should be."""
    load_tried(plugins_at(named.plugins))
    return load_inventory(named.file, is_trusted=named.is_trusted)
