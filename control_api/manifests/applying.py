"""Who acts on this machine, until every command asks `punctual.actor`."""

import os
import pwd


def local_actor() -> str:
    """The user that the process runs as."""
    try:
        return f"cli:{pwd.getpwuid(os.getuid()).pw_name}"
    except KeyError:  # a user without a name
        return f"cli:{os.getuid()}"
