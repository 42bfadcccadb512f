"""Rate limiters that software can program: kinds by name, chosen by what the node offers."""
