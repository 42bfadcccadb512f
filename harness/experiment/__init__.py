"""Reads and checks experiment files."""
