"""How a server proves that it left its word in a data folder, without telling the word.

Another user of the machine could take the port of a server that ended uncleanly, and would be
sent the folder's token by whoever trusts an answer that anybody can read first.
"""

import hmac
from typing import Final

CHALLENGE_PATTERN: Final = "^[0-9a-f]{32,64}$"
_PURPOSE: Final = "punctual server "


def proof_of(instance: str, challenge: str) -> str:
    """What only whoever knows the instance's secret can answer; 64 characters of hexadecimal."""
    return hmac.digest(instance.encode(), (_PURPOSE + challenge).encode(), "sha256").hex()
