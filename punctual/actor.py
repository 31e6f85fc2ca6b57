"""Who acts on this machine."""

import os
import pwd


def local_actor() -> str:
    """Who acts, as the audit names them: the user that the process runs as.

    Not what the environment says: anybody can set that.
    """
    try:
        return f"cli:{pwd.getpwuid(os.getuid()).pw_name}"
    except KeyError:  # a user without a name
        return f"cli:{os.getuid()}"
