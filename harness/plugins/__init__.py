"""Plug-ins, files that add to the registries: how they are read, loaded and trusted."""
