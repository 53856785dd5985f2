"""Benchmarks: ratios in one run, never tests. `make bench`."""
