"""Shapes of auxiliary arrays by the names that test suites import."""
