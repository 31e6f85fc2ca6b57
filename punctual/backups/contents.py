"""What a backup says of itself: versions, and the name, size and SHA-256 of every member."""

import re
from pathlib import Path
from typing import Annotated, Final, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from ports.errors import StoreRefused
from punctual.data_folder import KEYS_FOLDER, STORE_FILE
from punctual.local_files import TOKEN_FILE
from scheduling.instants import from_text
from scheduling.limits import BACKUP_KEY_BYTES_MAX, BACKUP_MEMBERS_MAX

FORMAT: Final = 1
CONTENTS_NAME: Final = "contents.json"
# Names of ours alone: nothing that leads out of the folder, is hidden, or is another system's.
_KEY_NAME: Final = re.compile(rf"{KEYS_FOLDER}(?:/[A-Za-z0-9_-][A-Za-z0-9._-]{{0,127}}){{1,2}}")


def is_member_name(name: str) -> bool:
    """Whether a backup may hold a file of that name."""
    return name in (STORE_FILE, TOKEN_FILE) or _KEY_NAME.fullmatch(name) is not None


def _known(name: str) -> str:
    if not is_member_name(name):
        raise ValueError(f"{name!r} is no file of a data folder")
    return name


def _instant(text: str) -> str:
    from_text(text)
    return text


class Member(BaseModel):
    """One file; `size` in bytes."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    name: Annotated[str, AfterValidator(_known)]
    size: int = Field(ge=0)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")

    @model_validator(mode="after")
    def _within_bounds(self) -> Self:
        if self.name != STORE_FILE and self.size > BACKUP_KEY_BYTES_MAX:
            raise ValueError(f"{self.name}: {self.size} bytes; at most {BACKUP_KEY_BYTES_MAX}")
        return self


class Contents(BaseModel):
    """`taken_at` is RFC 3339, right after the moment that the copy of the store shows."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    format: int
    taken_at: Annotated[str, AfterValidator(_instant)]
    punctual: str
    schema_version: int = Field(ge=1)
    tzdata: str | None
    members: list[Member] = Field(min_length=1, max_length=BACKUP_MEMBERS_MAX)

    @model_validator(mode="after")
    def _whole(self) -> Self:
        names = [member.name for member in self.members]
        if STORE_FILE not in names:
            raise ValueError(f"{STORE_FILE} is missing")
        if len(set(names)) != len(names):
            raise ValueError("a name stands twice")
        return self

    @property
    def taken_us(self) -> int:
        return from_text(self.taken_at)

    @property
    def total_bytes(self) -> int:
        return sum(member.size for member in self.members)


class _Format(BaseModel):
    """All that is looked at before the rest is believed."""

    format: int


def read_contents(text: bytes, *, file: Path) -> Contents:
    """StoreRefused for anything that is not a whole list of this format or an older one."""
    try:
        found = _Format.model_validate_json(text)
        if found.format > FORMAT:
            raise StoreRefused(
                f"backup: {file} has format {found.format}, this program knows up to {FORMAT}: "
                "restore it with the punctual that made it, or a newer one"
            )
        return Contents.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise StoreRefused(
            f"backup: {file} is damaged or was changed: {CONTENTS_NAME}: "
            f"{where + ': ' if where else ''}{first['msg']}: restore another backup"
        ) from error
