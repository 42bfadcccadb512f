"""Compare a NIC's reactions to single packets with the specifications and its profile."""
