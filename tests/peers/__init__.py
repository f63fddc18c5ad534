"""Peers that others wrote for node, run by `make peers` and not by `make test`: it may have to install them first."""
