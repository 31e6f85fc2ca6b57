"""Services that a test needs: a missing one fails in CI, and elsewhere says how to start it."""

import os
from collections.abc import Callable

import pytest


def require_service(name: str, probe: Callable[[], bool], how_to_start: str) -> None:
    """Go on when `probe` says that the service answers.

    Otherwise the test fails under CI=true and is skipped elsewhere, with one line that says how
    to start the service. An OSError of the probe (nothing listens) counts as no answer.
    """
    try:
        answers = probe()
    except OSError:
        answers = False
    if answers:
        return
    message = f"{name} is not running; start it with: {how_to_start}"
    if os.environ.get("CI") == "true":
        pytest.fail(message, pytrace=False)
    pytest.skip(message)
