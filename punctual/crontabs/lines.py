"""The lines of a crontab as cron(8) reads them: settings, entries, and what is neither.

Sources for the rules: crontab(5) of Debian's cron and of cronie, and their parsers' behaviour
(quotes around a setting's value only where they match, `%` as newline, a command that starts with
`*` refused as a slip).
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_SETTING: Final = re.compile(
    r"""[ \t]*(?:"([^"=]*)"|'([^'=]*)'|([^\s=]+))[ \t]*=[ \t]*+"""
    r"""(?:"([^"]*)"[ \t]*|'([^']*)'[ \t]*|((?!["'])[^\n]*))"""
)
_LIKE_A_SETTING: Final = re.compile(r"[ \t]*[A-Za-z_][A-Za-z0-9_]*[ \t]*=")
_BLANKS: Final = re.compile(r"[ \t]+")
_USER: Final = re.compile(r"[a-z_][a-z0-9_.-]*\$?(:[a-z_][a-z0-9_.-]*)?(/[a-z0-9_.-]+)?")
_SYSTEM_NAME: Final = re.compile(r"(^|/)etc/(crontab$|cron\.d/)")
# None of them is also a program that a user's crontab might start, as `mail` and `nginx` are.
_SYSTEM_ACCOUNTS: Final = frozenset(
    {"root", "daemon", "bin", "sys", "operator", "www-data", "nobody", "postgres", "logcheck"}
)
_TIME_FIELDS: Final = 5
_ESCAPED: Final = re.compile(r"\\(.)|(%)", re.DOTALL)


class Setting(NamedTuple):
    """`NAME = value`: holds for the entries after it."""

    line: int
    name: str
    value: str


class Entry(NamedTuple):
    """A schedule and what follows it, the user column included where there is one."""

    line: int
    source: str
    schedule: str
    rest: str


class Malformed(NamedTuple):
    line: int
    source: str
    reason: str


class Command(NamedTuple):
    """What cron would run: `stdin` is None where the line gives none."""

    user: str | None
    command: str
    stdin: str | None


def crontab_lines(text: str) -> Iterator[Setting | Entry | Malformed]:
    """Every line that means something, in the order of the file."""
    for number, raw in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        line = raw.removesuffix("\r").strip(" \t")
        if not line or line.startswith("#"):
            continue
        if "\0" in line:
            yield Malformed(number, line, "holds a NUL character: save the file as text")
            continue
        if any("\udc80" <= character <= "\udcff" for character in line):
            clean = line.encode(errors="replace").decode()
            yield Malformed(number, clean, "is not UTF-8: save the file as UTF-8")
            continue
        setting = _SETTING.fullmatch(line)
        if setting:
            yield _setting(number, setting)
        elif _LIKE_A_SETTING.match(line):
            yield Malformed(
                number, line, "a setting with unbalanced quotes: close them, or drop them"
            )
        else:
            yield _entry(number, line)


def is_system_form(entries: list[Entry], *, name: str) -> bool:
    """Whether the entries have a user column.

    They do in /etc/crontab and /etc/cron.d; elsewhere when each has a word that may be a user
    before its command, and at least one of them is a well-known account.
    """
    if _SYSTEM_NAME.search(name):
        return True
    words = [_BLANKS.split(entry.rest, maxsplit=1) for entry in entries]
    are_users = all(len(pair) == 2 and _USER.fullmatch(pair[0]) for pair in words)
    return are_users and any(pair[0] in _SYSTEM_ACCOUNTS for pair in words)


def command_of(entry: Entry, *, is_system: bool) -> Command | str:
    """The user, command and input of an entry, or why there is none."""
    user, rest = None, entry.rest
    if is_system:
        user, *others = _BLANKS.split(rest, maxsplit=1)
        rest = others[0] if others else ""
        if not rest:
            return "no command after the user: is this a user's crontab, without that column?"
        if not _USER.fullmatch(user):
            return "the user column holds no user name: is this a user's crontab, without it?"
    if rest.startswith("*"):
        return (
            "six time fields, or a slip: cron reads five and refuses a command that starts with "
            "`*`; an entry with seconds belongs in a manifest"
        )
    if rest.startswith("-"):
        return "BSD cron's flags before a command are not read: remove them"
    command, stdin = _split_input(rest)
    return Command(user, command, stdin) if command.strip() else "no command before the first %"


def _setting(number: int, match: re.Match[str]) -> Setting:
    names, values = match.groups()[:3], match.groups()[3:]
    value = next((value for value in values if value is not None), "")
    is_bare = values[2] is not None
    return Setting(
        number,
        next(name for name in names if name is not None),
        value.rstrip(" \t") if is_bare else value,
    )


def _entry(number: int, line: str) -> Entry | Malformed:
    # A leading `-` is SUSE's and cronie's way to keep an entry out of the log.
    fields = line.removeprefix("-")
    count = 1 if fields.startswith("@") else _TIME_FIELDS
    parts = _BLANKS.split(fields, maxsplit=count)
    if len(parts) <= count:
        found = "no command" if len(parts) == count else "too few fields"
        reason = f"{found}: an entry is five time fields, or an @nickname, and a command"
        return Malformed(number, line, reason)
    return Entry(number, line, " ".join(parts[:count]), parts[count])


def _split_input(text: str) -> tuple[str, str | None]:
    """The command up to the first bare `%`, and the rest as its input, each `%` a newline.

    In the command a backslash hides the character after it; in the input only a `%`.
    """
    end = next((match.start() for match in _ESCAPED.finditer(text) if match[2]), None)
    if end is None:
        return text.replace("\\%", "%"), None
    given = re.sub(r"\\%|%", lambda match: "%" if len(match[0]) == 2 else "\n", text[end + 1 :])
    return text[:end].replace("\\%", "%"), given if given.endswith("\n") else given + "\n"
