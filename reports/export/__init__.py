"""Files to take away: CSV, figures for a paper, packets for Wireshark, time lines for Perfetto."""
