"""What the command line takes where nothing is said, apart from what would be long to import."""

from typing import Final

API_PORT: Final = 8400
RECEIVER_PORT: Final = 8401  # of the demo
IN_FLIGHT: Final = 1_000  # attempts at once of one process
LOOPBACK: Final = "allow-loopback where --host is loopback"
