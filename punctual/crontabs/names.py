"""Names for triggers that come from commands: readable, stable and unique."""

import hashlib
import json
import re
from typing import Final

from punctual.crontabs.lines import Command

_WORD_CHARS_MAX: Final = 40
_DIGEST_CHARS: Final = 6
_SEPARATORS: Final = re.compile(r"&&|\|\||[;|&(){}\n]")
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
# A part that starts with one of these only prepares the command that follows.
_PREPARATIONS: Final = frozenset(
    ("cd", "test", "[", "[[", "sleep", ".", "source", "export", "umask", "if", "command")
)
# These run the word after them.
_WRAPPERS: Final = frozenset(
    {
        "env",
        "nice",
        "ionice",
        "chrt",
        "nohup",
        "sudo",
        "flock",
        "timeout",
        "exec",
        "time",
        "setsid",
        "chronic",
        "bash",
        "sh",
        "dash",
        "zsh",
        "python",
        "python2",
        "python3",
        "perl",
        "php",
        "ruby",
        "node",
        "java",
    }
)
# Of these, the ones whose first argument is not yet the command.
_WRAPPERS_OF_TWO: Final = frozenset({"flock", "timeout", "chrt"})
_EXTENSION: Final = re.compile(r"\.(sh|py|pl|php|rb|js|bash|jar)$")


def trigger_name(command: Command, taken: set[str]) -> str:
    """`backup-3f9a1c`: the command's own word and a digest of user, command and input.

    The schedule is no part of it, so an edited schedule stays the same trigger. The second line
    with the same command gets `-2`, by the order of the file.
    """
    identity = json.dumps([command.user, command.command, command.stdin]).encode()
    digest = hashlib.sha256(identity).hexdigest()[:_DIGEST_CHARS]
    base = f"{_word(command.command)}-{digest}"
    name, count = base, 1
    while name in taken:
        count += 1
        name = f"{base}-{count}"
    return name


def _word(command: str) -> str:
    for part in _SEPARATORS.split(command):
        words = [word.strip("\"'") for word in part.split()]
        words = [word for word in words if word and not _ASSIGNMENT.match(word)]
        if words and words[0] not in _PREPARATIONS:
            word = _program(words)
            if word:
                return word
    return "job"


def _program(words: list[str]) -> str:
    """The first word that is no wrapper, option, redirection or argument of a wrapper."""
    remaining = iter(words)
    for word in remaining:
        base = word.rstrip("/").rpartition("/")[2].lower()
        if word.startswith(("-", "<", ">")) or base in _WRAPPERS or base.isdigit():
            if base in _WRAPPERS_OF_TWO or word == "-u":
                next((skipped for skipped in remaining if not skipped.startswith("-")), None)
            continue
        cleaned = re.sub(r"[^a-z0-9]+", "-", _EXTENSION.sub("", base))
        return cleaned[:_WORD_CHARS_MAX].strip("-")
    return ""
