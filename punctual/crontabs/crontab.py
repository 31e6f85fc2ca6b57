"""Turns a crontab into a manifest: one trigger per entry, its command kept as the payload.

Punctual never runs the command; the target does. What cannot mean the same here is refused with
its line and the remedy, and the other lines convert.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from punctual.crontabs.lines import (
    Command,
    Entry,
    Malformed,
    Setting,
    command_of,
    crontab_lines,
    is_system_form,
)
from punctual.crontabs.names import trigger_name
from scheduling import InvalidRecurrence, compile_recurrence
from scheduling.limits import ECHO_CHARS_MAX, MANIFEST_BYTES_MAX
from scheduling.zones import load_zone
from schemas.manifest import Manifest, TenantSpec, TriggerSpec
from schemas.manifest_fields import name_problem

TARGET_NAME: Final = "cron"
_RANDOM: Final = re.compile(r"(\d*)~(\d*)")
_FIELD_ENDS: Final = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))
_NOT_A_SCHEDULE: Final = {
    "@reboot": (
        "@reboot names no time: let the machine's service manager start it, "
        "or say how often it should run"
    ),
    "@every_minute": 'write "* * * * *"',
    "@every_second": "cron has no seconds: write `schedule: every 1s` in a manifest",
    "@every": "write `schedule: every 5m` in a manifest",
}


class CrontabError(ValueError):
    """The import as a whole cannot be done as asked; the message names the option to change."""


class Refusal(NamedTuple):
    """A line that was not converted. `source`: at most 40 characters of it."""

    line: int
    source: str
    reason: str

    def text(self, name: str) -> str:
        return f"{name}:{self.line}: {self.source!r}: {self.reason}"


class Note(NamedTuple):
    """Something that was converted and that the reader should know."""

    line: int
    message: str

    def text(self, name: str) -> str:
        return f"{name}:{self.line}: {self.message}"


class CrontabImport(NamedTuple):
    manifest: Manifest
    refusals: list[Refusal]
    notes: list[Note]


def import_crontab(
    text: str, *, system: bool | None, tenant: str, target_url: str, zone: str | None, name: str
) -> CrontabImport:
    """The entries of a crontab as triggers of one tenant, all sent to one target.

    system: whether there is a user column; None = find out
    zone:   of the entries that no CRON_TZ precedes; the host's zone is never read
    name:   the file as messages call it; its path helps to find the form
    Raises CrontabError for an unusable tenant, zone or size, or when an entry has no zone at all.
    """
    _check_arguments(text, tenant=tenant, zone=zone)
    lines = list(crontab_lines(text))
    entries = [line for line in lines if isinstance(line, Entry)]
    is_system = is_system_form(entries, name=name) if system is None else system
    importer = _Importer(tenant=tenant, zone=zone, is_system=is_system)
    importer.note_form(text, is_guessed=system is None, entries=entries)
    for line in lines:
        importer.take(line)
    spec = TenantSpec.model_validate(
        {"targets": {TARGET_NAME: {"url": target_url}}, "triggers": importer.triggers}
    )
    manifest = Manifest(tenants={tenant: spec}, name=name)
    return CrontabImport(manifest, importer.refusals, sorted(importer.notes))


@dataclass(slots=True)
class _Importer:
    """State: the settings so far, and what has come of the lines."""

    tenant: str
    zone: str | None
    is_system: bool
    environment: dict[str, str] = field(default_factory=dict)
    triggers: dict[str, TriggerSpec] = field(default_factory=dict)
    refusals: list[Refusal] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)

    def take(self, line: Setting | Entry | Malformed) -> None:
        if isinstance(line, Setting):
            self._take_setting(line)
            return
        reason = line.reason if isinstance(line, Malformed) else self._convert(line)
        if reason is not None:
            source = line.source[:ECHO_CHARS_MAX]
            self.refusals.append(Refusal(line.line, source, reason))

    def note_form(self, text: str, *, is_guessed: bool, entries: list[Entry]) -> None:
        """What the reader should know of the file as a whole."""
        if is_guessed and self.is_system and entries:
            self._note(entries[0].line, "read with a user column, as in /etc/crontab")
        if "\r\n" in text:
            self._note(1, "ends its lines with CR LF; the CRs were dropped, cron would keep them")
        last = text.rpartition("\n")[2]
        if last.strip() and not last.lstrip().startswith("#"):
            self._note(text.count("\n") + 1, "the last line has no newline: cron would ignore it")

    def _take_setting(self, setting: Setting) -> None:
        if setting.name == "CRON_TZ":
            self.zone = setting.value.removeprefix(":")
            self._note(
                setting.line,
                f"CRON_TZ is the zone of the entries after it ({self.zone[:ECHO_CHARS_MAX]!r}), "
                "as in cronie; Debian's cron ignores it and uses the host's zone",
            )
            return
        self.environment[setting.name] = setting.value
        if setting.name == "TZ":
            message = "TZ is kept for the command and moves no schedule: see CRON_TZ and --zone"
            self._note(setting.line, message)
        if setting.name == "MAILTO" and setting.value:
            self._note(setting.line, "MAILTO is kept for the command; no mail is sent from here")

    def _convert(self, entry: Entry) -> str | None:
        """Adds the entry's trigger, or says why not."""
        reason = _unlike_ours(entry.schedule)
        command = command_of(entry, is_system=self.is_system)
        if reason is not None or isinstance(command, str):
            return reason if reason is not None else str(command)
        if self.zone is None:
            raise CrontabError(
                f"line {entry.line}: no zone: give --zone, as in --zone Europe/Berlin, or write "
                "CRON_TZ=... above the entry; the zone of this host is never assumed"
            )
        name = trigger_name(command, set(self.triggers))
        identity = (self.tenant, name)
        try:
            compile_recurrence(entry.schedule, self.zone, identity=identity)
            self.triggers[name] = self._trigger(entry, command, self.zone)
        except InvalidRecurrence as error:
            return str(error)
        except ValidationError as error:
            return "; ".join(str(finding["msg"]) for finding in error.errors())
        self._note_entry(entry)
        return None

    def _trigger(self, entry: Entry, command: Command, zone: str) -> TriggerSpec:
        payload: Mapping[str, Any] = {
            "command": command.command,
            "stdin": command.stdin,
            "user": command.user,
            "environment": self.environment,
            "line": entry.source,
        }
        return TriggerSpec.model_validate(
            {"schedule": entry.schedule, "zone": zone, "target": TARGET_NAME, "payload": payload}
        )

    def _note_entry(self, entry: Entry) -> None:
        if entry.source.startswith("-"):
            self._note(entry.line, "the leading `-` (keep out of the log) has no meaning here")
        if entry.rest.endswith("\\"):
            self._note(entry.line, "ends with a backslash: cron joins no lines")

    def _note(self, line: int, message: str) -> None:
        self.notes.append(Note(line, message))


def _check_arguments(text: str, *, tenant: str, zone: str | None) -> None:
    problem = name_problem(tenant)
    if problem is not None:
        raise CrontabError(f"--tenant: {problem}")
    if len(text) > MANIFEST_BYTES_MAX:
        raise CrontabError(f"the file is longer than {MANIFEST_BYTES_MAX:,} characters")
    if zone is not None:
        try:
            load_zone(zone)
        except InvalidRecurrence as error:
            raise CrontabError(f"--{error}") from None


def _unlike_ours(schedule: str) -> str | None:
    """Why a form that some cron has is not taken over, with what to write instead."""
    nickname = schedule.lower()
    if nickname in _NOT_A_SCHEDULE:
        return _NOT_A_SCHEDULE[nickname]
    if nickname.startswith("@") and nickname[1:].isdigit():
        return f"write `schedule: every {nickname[1:]}s` in a manifest"
    if "~" in schedule:
        return (
            "`~` draws another time at every reload; "
            f'write "{_hashed(schedule)}", where H is a stable, spread choice'
        )
    return None


def _hashed(schedule: str) -> str:
    """The entry's fields with H in place of every random choice, its bounds kept."""
    fields = []
    for text, (low, high) in zip(schedule.split(" "), _FIELD_ENDS, strict=False):
        match = _RANDOM.search(text)
        if match and (match[1] or match[2]):
            text = text.replace(match[0], f"H({match[1] or low}-{match[2] or high})", 1)
        fields.append(text.replace("~", "H"))
    return " ".join(fields)
