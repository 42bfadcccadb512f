"""QEMU machines: what they are, how they are wired, how they start, reply and end."""
