"""Secrets that a manifest keeps elsewhere: put in place, or told without being shown."""

from pathlib import Path

import pytest

from control_api.manifests.problems import Mark
from control_api.manifests.secrets import fill_secrets
from control_api.manifests.shapes import Section
from control_api.manifests.yaml_tree import read_tree
from tests.support.definitions import SECRET

ENVIRONMENT = {"GOOD": SECRET, "BAD": "hunter2"}


def filled(target: str, folder: Path | None) -> tuple[object, list[str]]:
    """The target after all, and what is told with its line and column."""
    text = f"tenants:\n  acme:\n    targets:\n      t: {{{target}}}\n"
    root, _ = read_tree(text, name="m.yaml")
    problems = fill_secrets(
        Section(root, "", "", Mark(1, 1)), environment=ENVIRONMENT, folder=folder
    )
    tenants = root.plain()
    assert isinstance(tenants, dict)
    return tenants["tenants"]["acme"]["targets"]["t"], [each.text("m.yaml") for each in problems]


@pytest.mark.parametrize(
    "target",
    [
        pytest.param(f"secret: {SECRET}", id="written"),
        pytest.param("secret_env: GOOD", id="environment"),
        pytest.param("secret_file: s", id="file"),
    ],
)
def test_secret_is_found_where_it_lies(target: str, tmp_path: Path) -> None:
    (tmp_path / "s").write_text(f"{SECRET}\n")
    assert filled(target, tmp_path) == ({"secret": SECRET}, [])


def test_target_without_a_secret_stays_without(tmp_path: Path) -> None:
    assert filled("url: x", tmp_path) == ({"url": "x"}, [])


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        pytest.param("secret_env: GONE", "secret_env: the variable GONE is not set", id="unset"),
        pytest.param("secret_file: gone", "secret_file: cannot read gone: ", id="no_file"),
        pytest.param("secret_env: BAD", "secret_env: signing secret: write whsec_", id="no_secret"),
    ],
)
def test_secret_that_cannot_be_read_is_told_at_its_line_without_it(
    target: str, expected: str, tmp_path: Path
) -> None:
    left, (told,) = filled(target, tmp_path)
    assert left == {}, "the rest of the target can still be judged"
    assert told.startswith(f"m.yaml:4:11: tenants.acme.targets.t.{expected}")
    assert "hunter2" not in told


def test_secret_file_of_a_manifest_from_stdin_wants_a_whole_path(tmp_path: Path) -> None:
    (tmp_path / "s").write_text(SECRET)
    _, (told,) = filled("secret_file: s", None)
    assert told.endswith("write an absolute path: a manifest from stdin has no folder")
    assert filled(f"secret_file: {tmp_path / 's'}", None) == ({"secret": SECRET}, [])


@pytest.mark.parametrize(
    ("target", "left"),
    [
        pytest.param(
            "secret_env: GOOD, secret_file: s",
            {"secret_env": "GOOD", "secret_file": "s"},
            id="both",
        ),
        pytest.param("secret_env: 7", {"secret_env": 7}, id="no_text"),
        pytest.param("secret_env: A B", {"secret_env": "A B"}, id="no_name"),
    ],
)
def test_what_the_reader_refuses_anyway_is_left_to_it(
    target: str, left: dict[str, object], tmp_path: Path
) -> None:
    assert filled(target, tmp_path) == (left, [])
