"""Finds a target's signing secret where its manifest says that it lies."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from schemas.manifest import TargetSpec
from schemas.signing_secrets import check_secret

_FILE_BYTES_MAX: Final = 4_096


class SecretError(ValueError):
    """A secret could not be read or is none; the message names the key and never holds it."""


def read_secret(target: TargetSpec, *, environment: Mapping[str, str], folder: Path) -> str | None:
    """The `whsec_` text of a target, or None where one is to be made.

    folder: where a relative `secret_file` starts, the manifest's own folder
    Raises SecretError.
    """
    if target.secret_env is not None:
        value = environment.get(target.secret_env)
        if value is None:
            raise SecretError(f"secret_env: the variable {target.secret_env} is not set")
        return _checked("secret_env", value)
    if target.secret_file is not None:
        return _checked("secret_file", _file_text(folder / target.secret_file, target.secret_file))
    return target.secret


def _file_text(path: Path, written: str) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_FILE_BYTES_MAX).decode("ascii")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a text of ASCII"
        raise SecretError(f"secret_file: cannot read {written}: {reason}") from None


def _checked(key: str, value: str) -> str:
    secret = value.strip()
    problem = check_secret(secret)
    if problem is not None:
        raise SecretError(f"{key}: {problem}")
    return secret
