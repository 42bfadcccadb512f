"""Which plug-ins the agent takes along to nodes."""

from rogue.harness.plugins.loading import loaded_plugins


def packed_plugins() -> dict[str, str]:
    """Texts, by module, of the plug-ins in force that the agent needs."""
    sources = [plugin.source for plugin in loaded_plugins() if plugin.is_for_nodes]
    return {f"plugin_{source.stem}_{source.sha256[:12]}": source.text for source in sources}
