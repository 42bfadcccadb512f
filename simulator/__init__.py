"""The packet simulator: a C++ engine with a Python face."""
