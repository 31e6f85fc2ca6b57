"""What holds for every test: an error in the log fails it, and generated examples are repeatable.

Warnings are errors by pyproject's `filterwarnings`.
"""

import logging
import os
from collections.abc import Generator
from typing import Final

import hypothesis
import pytest
import structlog

EXPECTS_ERROR_LOG: Final = "expects_error_log"
_RECORDER: Final = pytest.StashKey["ErrorRecorder"]()
_ROOT: Final = pytest.StashKey[tuple[int, list[logging.Handler]]]()

# No deadline: a test may not fail because the machine was busy.
hypothesis.settings.register_profile(
    "dev", max_examples=50, derandomize=True, deadline=None, print_blob=True
)
hypothesis.settings.register_profile(
    "ci", max_examples=200, derandomize=True, deadline=None, print_blob=True
)
hypothesis.settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") == "true" else "dev")
)


class ErrorRecorder(logging.Handler):
    """Keeps the messages of records at ERROR and above."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(f"{record.name}: {record.getMessage()}")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", f"{EXPECTS_ERROR_LOG}: the test is about an error that is logged"
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    recorder = item.stash[_RECORDER] = ErrorRecorder()
    root = logging.getLogger()
    item.stash[_ROOT] = (root.level, [*root.handlers])
    root.addHandler(recorder)
    _route_structlog()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    result = yield
    messages = item.stash[_RECORDER].messages
    if item.get_closest_marker(EXPECTS_ERROR_LOG) is None:
        _refuse(messages)
    elif not messages:
        pytest.fail(f"marked {EXPECTS_ERROR_LOG}, but no error was logged", pytrace=False)
    messages.clear()
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None]:
    try:
        result = yield
    finally:
        # A test that runs a command in this process may have set up the logs of a service.
        root = logging.getLogger()
        level, handlers = item.stash[_ROOT]
        root.handlers = [handler for handler in root.handlers if handler in handlers]
        root.setLevel(level)
    if item.get_closest_marker(EXPECTS_ERROR_LOG) is None:
        _refuse(item.stash[_RECORDER].messages)
    return result


def _refuse(messages: list[str]) -> None:
    if messages:
        pytest.fail("logged at error level: " + "; ".join(messages), pytrace=False)


def _route_structlog() -> None:
    """Send structlog's events through stdlib logging, where the recorder sits.

    A test that configures structlog itself keeps the guard if it keeps the stdlib factory.
    """
    structlog.configure(
        processors=[
            structlog.stdlib.add_log_level,
            structlog.processors.format_exc_info,
            structlog.processors.KeyValueRenderer(key_order=["event"]),
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
