"""Logs: one line an event on stderr, as text for people or as JSON for machines."""

import logging
import sys
from typing import TYPE_CHECKING, Final

from schemas.printable import printable

if TYPE_CHECKING:
    from structlog.types import EventDict, Processor

LEVELS: Final = ("debug", "info", "warning", "error")


def configure_logs(*, level: str, as_json: bool) -> None:
    """Send every line through one handler to stderr, whichever library it comes from."""
    import structlog  # takes longer than the command line that names a level

    shared: list[Processor] = [
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    renderer: Processor = (
        structlog.processors.JSONRenderer()
        if as_json
        else structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(),
            # The default formatter prints local variables, and those may hold a payload.
            exception_formatter=structlog.dev.plain_traceback,
        )
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                *(() if as_json else (_made_printable,)),
                renderer,
            ],
        )
    )
    logging.basicConfig(handlers=[handler], level=level.upper(), force=True)
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        # A cached logger would keep this configuration for the life of the process.
        cache_logger_on_first_use=False,
    )


def _made_printable(logger: object, method: str, event: "EventDict") -> "EventDict":
    """People read it on a terminal, which the texts of others may not steer."""
    return {
        key: "\n".join(map(printable, value.split("\n"))) if isinstance(value, str) else value
        for key, value in event.items()
    }
