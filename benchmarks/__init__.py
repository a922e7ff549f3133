"""Benchmarks for the command line."""
