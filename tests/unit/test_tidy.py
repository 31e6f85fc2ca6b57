"""The house style as ordinary tests, and for each rule a planted breach that it refuses."""

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import PurePosixPath
from typing import Final

import pytest
from packaging.requirements import Requirement

from tests.support import tidy_imports, tidy_locks, tidy_python, tidy_text
from tests.support.repository import (
    ROOT,
    pyproject,
    repository_files,
    text_of,
    top_level_packages,
)

Rule = Callable[[PurePosixPath, str], Iterator[str]]

PROJECT: Final = pyproject()["project"]
DECLARED: Final[list[str]] = PROJECT["dependencies"]
DECLARED_EXTRAS: Final[dict[str, list[str]]] = PROJECT["optional-dependencies"]
LOCKS: Final = {
    "requirements/base.txt": DECLARED,
    "requirements/dev.txt": DECLARED + DECLARED_EXTRAS["dev"],
    "requirements/gcp.txt": DECLARED + DECLARED_EXTRAS["gcp"],
}
DECLARED_IMPORTS: Final = frozenset(
    tidy_imports.import_name(Requirement(line).name) for line in DECLARED
)

RULES: Final[dict[str, Rule]] = {
    "columns": tidy_text.columns,
    "unfinished_marks": tidy_text.unfinished_marks,
    "skip_marks": tidy_text.skip_marks,
    "hosts_and_machine_paths": tidy_text.hosts_and_machine_paths,
    "links": partial(tidy_text.links, root=ROOT),
    "sql_names": tidy_text.sql_names,
    "file_length": tidy_python.file_length,
    "function_length": tidy_python.function_length,
    "module_docstring": tidy_python.module_docstring,
    "public_docstrings": tidy_python.public_docstrings,
    "printing": tidy_python.printing,
    "test_assertions": tidy_python.test_assertions,
    "port_size": tidy_python.port_size,
    "literal_words": tidy_python.literal_words,
    "joined_sql": tidy_python.joined_sql,
    "scheduling_imports": tidy_imports.scheduling_imports,
    "base_imports": tidy_imports.base_imports,
    "declared_imports": partial(tidy_imports.declared_imports, declared=DECLARED_IMPORTS),
    "client_imports": tidy_imports.client_imports,
}

LONG_FUNCTION: Final = "def f():\n" + "    x = 1\n" * 70
WIDE_PORT: Final = '"""A."""\nclass P(ABC):\n    """P."""\n' + "".join(
    f'    @abstractmethod\n    def m{n}(self):\n        """M."""\n' for n in range(11)
)
LITERAL: Final = "from typing import Literal\n"
# The words in pieces: this file is read by the rules as well.
MARK: Final = "TO" + "DO"
SKIP: Final = "@pytest.mark" + ".skip\ndef test_a() -> None:\n    assert f() == 1\n"
HOST: Final = "see files.pythonhosted" + ".org for it"
MACHINE: Final = "DIR = '/ro" + "ot/x'"
HOME: Final = "cd /ho" + "me/me/punctual"

# (rule, path, text, what the complaint says)
PLANTED: Final = [
    ("columns", "ports/a.py", "x = 1  # " + "y" * 100, "109 columns"),
    ("columns", "schemas/sql/a.sql", "-- " + "y" * 100, "103 columns"),
    ("unfinished_marks", "ports/a.py", f"x = 1  # {MARK} later", MARK),
    ("unfinished_marks", "Makefile", f"# {MARK}", MARK),
    ("unfinished_marks", "ports/a.py", "raise Not" + "ImplementedError", "unfinished"),
    ("unfinished_marks", "ports/a.py", "x = 1  # pragma: no" + " cover", "unfinished"),
    ("skip_marks", "tests/unit/test_a.py", SKIP, "require_service"),
    ("skip_marks", "tests/unit/test_a.py", "pytest.import" + "orskip('x')", "require_service"),
    ("hosts_and_machine_paths", "docs/a.md", HOST, "registry's host"),
    ("hosts_and_machine_paths", "bench/a.py", MACHINE, "one machine"),
    ("hosts_and_machine_paths", "CONTRIBUTING.md", HOME, "one machine"),
    ("links", "docs/a.md", "text\n\n[a](missing.md#part)", "docs/a.md:3: missing.md#part"),
    ("links", "docs/a.md", "![a](../../elsewhere.png)", "out of the repository"),
    ("sql_names", "schemas/sql/a.sql", "SELECT 1;\n-- name: a\nSELECT 2;", "without a name"),
    ("sql_names", "schemas/sql/a.sql", "-- only a comment\n", "without a name"),
    ("sql_names", "schemas/sql/a.sql", "-- name: a\nX\n-- name: a^\nY", "stands twice"),
    ("file_length", "adapters/a.py", "x = 1\n" * 401, "401 lines"),
    ("function_length", "adapters/a.py", LONG_FUNCTION, "f has 71 lines"),
    ("function_length", "tests/unit/test_a.py", LONG_FUNCTION, "f has 71 lines"),
    ("module_docstring", "adapters/a.py", "x = 1\n", "no module docstring"),
    ("public_docstrings", "ports/a.py", "def f() -> int: ...", "f has no docstring"),
    ("public_docstrings", "scheduling/a.py", "class C: ...", "C has no docstring"),
    (
        "public_docstrings",
        "ports/a.py",
        'class P(ABC):\n    """P."""\n    @abstractmethod\n    def m(self) -> int: ...',
        "P.m has no docstring",
    ),
    ("printing", "adapters/a.py", "def f():\n    print(1)", "a.py:2: print"),
    ("test_assertions", "tests/unit/test_a.py", "def test_a():\n    f()", "asserts nothing"),
    ("test_assertions", "tests/unit/test_a.py", "def test_a():\n    assert True", "nothing"),
    ("port_size", "ports/a.py", WIDE_PORT, "P has 11 methods"),
    ("literal_words", "ports/log_actions.py", '"""A."""\nX = "a"\n', "holds no Literal"),
    ("literal_words", "ports/log_actions.py", f'{LITERAL}A = Literal["a", "a"]', "twice"),
    ("literal_words", "ports/metric_names.py", f'{LITERAL}A = Literal["A b"]', "lower-case"),
    ("joined_sql", "adapters/a.py", 'c.execute(f"SELECT {x}")', "SQL joined"),
    ("joined_sql", "adapters/a.py", 'c.executemany("A " + b, rows)', "SQL joined"),
    ("joined_sql", "adapters/a.py", 'c.execute("A %s" % b)', "SQL joined"),
    ("joined_sql", "adapters/a.py", 'c.execute("A {}".format(b))', "SQL joined"),
    ("joined_sql", "adapters/a.py", 'c.execute(sql=" ".join(b))', "SQL joined"),
    ("joined_sql", "adapters/a.py", 'sql = f"A {b}"\nc.execute(sql)', "SQL joined"),
    ("scheduling_imports", "scheduling/a.py", "import tzdata", "may not import tzdata"),
    ("scheduling_imports", "scheduling/zones.py", "import croniter", "may not import croniter"),
    ("scheduling_imports", "scheduling/a.py", "from importlib import resources", "importlib"),
    ("scheduling_imports", "scheduling/a.py", "from ports.store import Store", "ports.store"),
    ("scheduling_imports", "scheduling/a.py", "def f():\n    import pydantic", "a.py:2"),
    ("base_imports", "punctual/a.py", "import apache_beam as beam", "apache_beam is not"),
    ("base_imports", "ports/a.py", "from google.cloud import spanner", "google.cloud.spanner"),
    ("base_imports", "adapters/a.py", "def f():\n    from google import auth", "google.auth"),
    ("base_imports", "punctual/a.py", "from pipelines.decide import main", "pipelines.decide"),
    (
        "base_imports",
        "punctual/a.py",
        "from adapters.store_spanner import SpannerStore",
        "inside the function",
    ),
    ("declared_imports", "punctual/a.py", "import sqlalchemy", "sqlalchemy is not declared"),
    ("client_imports", "client/a.py", "from schemas.events import Fire", "schemas.events"),
]

# (rule, path, text) that look like a breach and are none
ALLOWED: Final = [
    ("skip_marks", "tests/support/services.py", "pytest.sk" + "ip('x')"),
    ("links", "docs/a.md", "[a](#part) `[b](missing.md)` [c](https://example.com/x)"),
    ("links", "docs/a.md", "```\n[a](missing.md)\n```\n[licence](../LICENSE)"),
    ("sql_names", "schemas/sql/a.sql", "-- The fires.\n\n-- name: insert_fire!\nINSERT"),
    ("sql_names", "schemas/sql/sqlite/migrations/0001.sql", "CREATE TABLE a (b TEXT);"),
    ("file_length", "tests/unit/test_a.py", "x = 1\n" * 401),
    ("public_docstrings", "scheduling/a.py", "class C(StrEnum):\n    A = 'a'"),
    ("printing", "bench/bench_a.py", "print(1)"),
    ("test_assertions", "tests/unit/test_a.py", "def test_a():\n    assert_same(a, b)"),
    (
        "test_assertions",
        "tests/unit/test_a.py",
        "def test_a():\n    with pytest.raises(ValueError):\n        f()",
    ),
    ("literal_words", "ports/log_actions.py", f'{LITERAL}A = Literal["fire.sent", "b"]'),
    ("joined_sql", "adapters/a.py", "c.execute(queries.insert_fire, (a + b,))"),
    ("joined_sql", "adapters/a.py", 'c.execute(f"PRAGMA user_version={n:d}")'),
    ("hosts_and_machine_paths", "docs/a.md", "GET http://127.0.0.1:8080/work and ./work/x"),
    ("hosts_and_machine_paths", "tests/cases/crontabs/a", MACHINE),
    ("scheduling_imports", "scheduling/zones.py", "from importlib.resources import files"),
    ("scheduling_imports", "scheduling/probe.py", "from croniter import croniter"),
    ("base_imports", "adapters/store_spanner.py", "from google.cloud import spanner"),
    ("base_imports", "punctual/a.py", "def f():\n    from adapters.store_spanner import open"),
    ("base_imports", "adapters/a.py", "from google.protobuf.message import Message"),
    ("declared_imports", "punctual/a.py", "import yaml\nfrom rich.table import Table"),
]


@pytest.mark.parametrize("name", RULES)
def test_tidy_rule_on_every_file_finds_nothing(name: str) -> None:
    complaints = [
        complaint
        for path in repository_files()
        if (text := text_of(path)) is not None
        for complaint in RULES[name](path, text)
    ]
    assert not complaints, "\n".join(complaints)


@pytest.mark.parametrize(
    ("name", "path", "text", "expected"),
    PLANTED,
    ids=[f"{row[0]}-{number}" for number, row in enumerate(PLANTED)],
)
def test_tidy_rule_on_a_planted_breach_complains(
    name: str, path: str, text: str, expected: str
) -> None:
    complaints = list(RULES[name](PurePosixPath(path), text))
    assert len(complaints) == 1
    assert expected in complaints[0]


@pytest.mark.parametrize(
    ("name", "path", "text"),
    ALLOWED,
    ids=[f"{row[0]}-{number}" for number, row in enumerate(ALLOWED)],
)
def test_tidy_rule_on_an_allowed_form_is_silent(name: str, path: str, text: str) -> None:
    assert list(RULES[name](PurePosixPath(path), text)) == []


def test_tidy_rules_all_have_a_planted_breach() -> None:
    assert {row[0] for row in PLANTED} == set(RULES)


@pytest.mark.parametrize("lock", LOCKS)
def test_lock_holds_what_pyproject_declares_within_bounds(lock: str) -> None:
    path = PurePosixPath(lock)
    text = text_of(path)
    assert text is not None
    assert list(tidy_locks.lock_satisfies(path, text, declared=LOCKS[lock])) == []


@pytest.mark.parametrize("lock", LOCKS)
def test_lock_is_hashed_and_names_no_place(lock: str) -> None:
    path = PurePosixPath(lock)
    text = text_of(path)
    assert text is not None
    assert list(tidy_locks.lock_hashes(path, text)) == []
    assert list(tidy_locks.lock_places(path, text)) == []


def test_base_and_dev_locks_hold_no_cloud_client() -> None:
    for lock in ("requirements/base.txt", "requirements/dev.txt"):
        path = PurePosixPath(lock)
        assert list(tidy_locks.lock_is_base_only(path, text_of(path) or "")) == []


def test_locks_give_one_version_to_a_package() -> None:
    assert (
        list(tidy_locks.locks_agree({lock: text_of(PurePosixPath(lock)) or "" for lock in LOCKS}))
        == []
    )


PIN: Final = "click==8.1 \\\n    --hash=sha256:00\n"


@pytest.mark.parametrize(
    ("complaints", "expected"),
    [
        pytest.param(
            lambda path: tidy_locks.lock_satisfies(path, PIN, declared=["click>=8.2"]),
            "click 8.1 is outside >=8.2",
            id="outside_bounds",
        ),
        pytest.param(
            lambda path: tidy_locks.lock_satisfies(path, PIN, declared=["rich"]),
            "rich is declared but not locked",
            id="missing",
        ),
        pytest.param(
            lambda path: tidy_locks.lock_hashes(path, "click==8.1\n"), "no hash", id="no_hash"
        ),
        pytest.param(
            lambda path: tidy_locks.lock_hashes(path, "click>=8 --hash=sha256:00\n"),
            "not pinned",
            id="not_pinned",
        ),
        pytest.param(
            lambda path: tidy_locks.lock_places(path, "--index-url https://example.com/simple\n"),
            "names a place",
            id="index",
        ),
        pytest.param(
            lambda path: tidy_locks.lock_places(path, "click @ file:wheels\n"),
            "names a place",
            id="direct",
        ),
        pytest.param(
            lambda path: tidy_locks.lock_places(path, "-c requirements/gcp.txt\n"),
            "names a place",
            id="folder",
        ),
        pytest.param(
            lambda path: tidy_locks.lock_is_base_only(path, "google-cloud-spanner==3.50\n"),
            "belongs to the gcp extra",
            id="cloud",
        ),
        pytest.param(
            lambda path: tidy_locks.locks_agree({"a": PIN, "b": "click==8.2\n"}),
            "b: click ['8.2'], but ['8.1'] in a",
            id="disagree",
        ),
    ],
)
def test_lock_rule_on_a_planted_breach_complains(
    complaints: Callable[[PurePosixPath], Iterator[str]], expected: str
) -> None:
    found = list(complaints(PurePosixPath("requirements/base.txt")))
    assert len(found) == 1
    assert expected in found[0]


def test_import_contracts_name_every_top_level_package() -> None:
    roots = set(pyproject()["tool"]["importlinter"]["root_packages"])
    assert top_level_packages() - {"client", "bench", "templates", "docs"} == roots


def test_make_help_names_every_target() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):.*## \S", text, re.MULTILINE))
    phony = re.findall(r"^\.PHONY: ([a-z ]+)$", text, re.MULTILINE)
    assert targets == set(phony[-1].split())


def test_make_docs_writes_every_page_that_the_code_prints() -> None:
    """A module that says it writes a page of docs/ stands in the Makefile and in CONTRIBUTING."""
    says = re.compile(r"`(python -m ([a-z_.]+))\s+>\s+docs/([a-z]+\.[a-z]+)`\s+writes")
    modules = (text_of(path) for path in repository_files() if path.suffix == ".py")
    told = {found.groups() for text in modules for found in says.finditer(text or "")}
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    contributing = text_of(PurePosixPath("CONTRIBUTING.md")) or ""
    assert set(re.findall(r"([a-z]+\.[a-z]+)=([a-z_.]+)", makefile)) == {
        (page, module) for _, module, page in told
    }
    rows = re.findall(
        r"^\| `docs/(\S+)` \| .+ \| `(python -m \S+)` \|$", contributing, re.MULTILINE
    )
    assert set(rows) == {(page, command) for command, _, page in told}


def test_decision_records_are_all_in_the_index() -> None:
    folder = PurePosixPath("docs/adr")
    records = {path.name for path in repository_files() if path.match("docs/adr/[0-9]*.md")}
    index = text_of(folder / "README.md") or ""
    assert set(re.findall(r"^\| \[\d{4}\]\(([^)]+)\) \|", index, re.MULTILINE)) == records
