"""Load with ratios, measured in one run: `make bench`."""
