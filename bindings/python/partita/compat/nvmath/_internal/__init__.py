"""Helpers for tensors by the names that test suites of nvmath.distributed import."""
