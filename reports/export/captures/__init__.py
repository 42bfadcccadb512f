"""Recorded packets as captures that Wireshark reads."""
