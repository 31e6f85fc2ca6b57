"""What pydantic finds wrong with a body or a manifest, in our words: each names the remedy."""

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from typing import Any, Final, get_args

from pydantic import BaseModel

from scheduling.durations import duration_text
from scheduling.limits import ECHO_CHARS_MAX, SUGGESTED_AMONG_MAX

_OTHER_WORDS: Final = {
    "cron": "schedule", "every": "schedule", "at": "schedule", "recurrence": "schedule",
    "expression": "schedule", "timezone": "zone", "time_zone": "zone", "tz": "zone",
    "misfire": "missed", "catchup": "missed", "concurrency": "overlap", "body": "payload",
    "data": "payload", "endpoint": "url", "uri": "url", "timeout": "timeout_s",
    "jitter": "smear_s", "smear": "smear_s", "enabled": "paused", "suspend": "paused",
    "retries": "retry", "holidays": "exclude", "exclusions": "exclude", "start": "starts_at",
    "end": "ends_at", "until": "ends_at", "catchup_horizon": "horizon",
}  # fmt: skip
_MISSING: Final = {
    "schedule": 'say when, as in `schedule: "0 9 * * MON-FRI"`',
    "zone": "name the time zone, as in `zone: Europe/Berlin` or `zone: UTC`; there is no default",
    "target": "name one of the tenant's targets",
    "url": 'say where fires go, as in `url: "https://example.com/hook"`',
}
_TYPES: Final = {
    "string_type": "write text; quote it if it looks like a number",
    "int_type": "write a whole number without quotes or unit",
    "list_type": "write a list",
    "dict_type": "write a mapping of keys and values",
    "bool_type": "write true or false",
    "model_type": "write a mapping of keys and values",
    "model_attributes_type": "write a mapping of keys and values",
    "string_too_short": "write some text, or remove the key",
    "int_parsing": "write a whole number",
    "int_from_float": "write a whole number",
    "bool_parsing": "write true or false",
}
_PATTERNS: Final = {
    "secret_env": "write a variable's name: letters, digits and `_`",
    "principal": (
        "write 1 to 128 letters, digits and any of `: @ . _ -`, a letter or a digit first, as in "
        "ci or billing@example.com"
    ),
    "challenge": "write 32 to 64 hexadecimal digits, the letters small",
}
_WORD: Final = re.compile(rf"[A-Za-z_-]{{1,{ECHO_CHARS_MAX}}}")
_DURATIONS: Final = frozenset({"expires_in", "horizon", "outcome_window", "run_timeout", "window"})


def message_of(model: type[BaseModel], finding: Mapping[str, Any]) -> str:
    """The text of one finding of `ValidationError.errors()`, about a value for the model."""
    kind, loc = finding["type"], finding["loc"]
    key = str(loc[-1]) if loc else ""
    if kind == "refused":
        return str(finding["msg"])
    if kind == "missing":
        return f"missing: {_MISSING.get(key, 'add it')}"
    if kind == "extra_forbidden":
        return unknown_key(key, keys_of(_model_at(model, loc)))
    return value_message(finding)


def parameter_message(finding: Mapping[str, Any]) -> str:
    """The text of one finding about a parameter of a path or a query, or about a header."""
    kind = finding["type"]
    if kind == "missing":
        return "missing: add it"
    if kind == "string_too_short":
        return "write some text, or leave it out"
    return str(finding["msg"]) if kind == "refused" else value_message(finding)


def value_message(finding: Mapping[str, Any]) -> str:
    """The text of one finding about a value that is there."""
    kind, loc, context = finding["type"], finding["loc"], finding.get("ctx", {})
    names = [step for step in loc if isinstance(step, str)]
    key = names[-1] if names else ""
    if kind in ("enum", "literal_error"):
        return f"write {str(context['expected']).replace(chr(39), '')}"
    if kind == "string_too_long":
        return f"at most {context['max_length']:,} characters"
    if kind == "string_pattern_mismatch":
        return _PATTERNS.get(key, f"write what fits {context['pattern']}")
    if kind == "too_long":
        return f"at most {context['max_length']:,} entries: split them"
    if kind == "too_short":
        return f"at least {context['min_length']:,} entries: add some"
    if kind in ("greater_than_equal", "less_than_equal"):
        return _bound(key, context)
    return _TYPES.get(kind, str(finding["msg"]))


def unknown_key(key: str, known: Iterable[str]) -> str:
    """What to say about a key that nobody reads."""
    words = sorted(known)
    meant = _OTHER_WORDS.get(key)
    if meant not in words:
        meant = next(iter(did_you_mean(key, words)), None)
    hint = f"did you mean `{meant}`?" if meant else f"the keys here are {', '.join(words)}"
    return f"unknown key {shown_key(key)!r}: {hint}"


def shown_key(key: str) -> str:
    """An unknown key as a message may show it: a slip of the comma can make a key of a secret."""
    return key if _WORD.fullmatch(key) else "?"


def did_you_mean(word: str, words: Sequence[str]) -> list[str]:
    """The likeliest of the first words, whatever the case it was written in; at most one."""
    by_lower = {known.lower(): known for known in words[:SUGGESTED_AMONG_MAX]}
    return [by_lower[match] for match in get_close_matches(word[:100].lower(), by_lower, n=1)]


@cache
def model_under(model: type[BaseModel], key: str) -> type[BaseModel] | None:
    """The model of a key's value, where it has one."""
    for name, info in model.model_fields.items():
        if (info.alias or name) == key:
            return next(iter(_models_in(info.annotation)), None)
    return None


@cache
def keys_of(model: type[BaseModel]) -> frozenset[str]:
    """The keys that a person may write for this model."""
    return frozenset(info.alias or name for name, info in model.model_fields.items())


def _bound(key: str, context: Mapping[str, Any]) -> str:
    word, bound = ("at least", context["ge"]) if "ge" in context else ("at most", context["le"])
    return f"{word} {duration_text(bound) if key in _DURATIONS else f'{bound:,}'}"


def _model_at(model: type[BaseModel], loc: Sequence[int | str]) -> type[BaseModel]:
    for step in loc[:-1]:
        model = model_under(model, str(step)) or model
    return model


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    """The models of a type, or of the members of a list or a choice."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for each in get_args(annotation) for model in _models_in(each)]
