"""QEMU machines: what they are, how they are wired, how they start, answer and end."""
