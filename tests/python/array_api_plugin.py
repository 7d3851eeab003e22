"""A plugin of pytest: the suite of data-apis/array-api-tests on the ranks of a launcher, with rows distributed.

    PYTHONPATH=build/python:tests/python ARRAY_API_TESTS_MODULE=partita.array_api \
        partita run --threads 3 -- python -m pytest -p array_api_plugin array_api_tests/ --derandomize --disable-deadline

All ranks draw the same examples. `array_api_skips.txt` lists what is skipped, with the reasons.
"""

import pathlib
import random

import pytest

import partita as pt

SKIPS = pathlib.Path(__file__).with_name("array_api_skips.txt")
# Before the suite is imported, which makes arrays.
CONTEXT = pt.initialize(device="cpu", deadline=120)
DEFAULT = pt.default(CONTEXT, pt.Slab(0))
DEFAULT.__enter__()


def skipped():
    """The reason for each name; those of lines that begin with "several ranks" if there are several."""
    lines = [line.strip() for line in SKIPS.read_text().splitlines()]
    several = "several ranks "
    lines = [line[len(several) :] if line.startswith(several) else line for line in lines if CONTEXT.size > 1 or not line.startswith(several)]
    return dict(line.split(": ", 1) for line in lines if line and not line.startswith("#"))


def pytest_runtest_setup(item):
    random.seed(0)  # of examples that are drawn outside of hypothesis' tests


def pytest_unconfigure(config):
    DEFAULT.__exit__(None, None, None)
    CONTEXT.close()


def pytest_collection_modifyitems(config, items):
    reasons = skipped()
    for item in items:
        name = item.nodeid.partition("array_api_tests/")[2] or item.nodeid
        reason = next((why for key, why in reasons.items() if name == key or (key.endswith("*") and name.startswith(key[:-1]))), None)
        if reason is not None:
            item.add_marker(pytest.mark.skip(reason=reason))
