"""APScheduler 3 on its SQLAlchemy job store on SQLite, driven by hand: a peer of two benches.

Its own code decides and stores: `_process_jobs`, which its schedulers' loops call. Only the
thread around it is left out, the executor runs nothing, and its clock is set, as ours is.
"""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import apscheduler
from apscheduler.executors.base import BaseExecutor
from apscheduler.jobstores.sqlalchemy import SQLAlchemyJobStore
from apscheduler.schedulers import base
from apscheduler.triggers.cron import CronTrigger
from sqlalchemy import Engine, create_engine, event

from scheduling.instants import from_us

VERSION: Final[str] = apscheduler.version


def nothing() -> None:
    """What every job would do."""


class Peer:
    """So many jobs, each due every minute. `close` when done."""

    def __init__(self, path: Path, *, jobs: int, pragmas: tuple[str, ...], due_us: int) -> None:
        self._path = path
        self.jobs = jobs
        self._fill(due_us)
        self._engine = _engine(path, pragmas)
        self.durability = _durability_of(self._engine)
        self._scheduler = _scheduler(self._engine)

    def fires_per_s(self, due_us: int) -> float:
        """Decide and store every job at the instant that all are due at."""
        with _clock_at(from_us(due_us)):
            started = time.perf_counter()
            self._scheduler._process_jobs()
            elapsed_s = time.perf_counter() - started
        store = self._scheduler._lookup_jobstore("default")
        if store.get_due_jobs(from_us(due_us)):
            raise RuntimeError("APScheduler left due jobs behind")
        return self.jobs / elapsed_s

    def close(self) -> None:
        self._scheduler.shutdown()

    def _fill(self, due_us: int) -> None:
        """Not measured, so without waiting for the disk."""
        scheduler = _scheduler(_engine(self._path, ("synchronous=OFF",)))
        for number in range(self.jobs):
            scheduler.add_job(
                nothing,
                CronTrigger(minute="*", timezone=UTC),
                id=f"job-{number}",
                next_run_time=from_us(due_us),
                misfire_grace_time=None,
                coalesce=True,
            )
        scheduler.shutdown()


def creations_per_s(path: Path, *, jobs: int, pragmas: tuple[str, ...]) -> float:
    """`add_job` one after the other, as its users call it: a commit for each."""
    scheduler = _scheduler(_engine(path, pragmas))
    started = time.perf_counter()
    for number in range(jobs):
        scheduler.add_job(
            nothing,
            CronTrigger(minute=number % 60, hour=number % 24, timezone="Europe/Berlin"),
            id=f"job-{number}",
        )
    elapsed_s = time.perf_counter() - started
    scheduler.shutdown()
    path.unlink()
    return jobs / elapsed_s


class _Scheduler(base.BaseScheduler):  # type: ignore[misc]
    """Woken by hand."""

    def wakeup(self) -> None:
        """Nothing sleeps here."""

    def shutdown(self, wait: bool = True) -> None:
        super().shutdown(wait)


class _NoExecutor(BaseExecutor):  # type: ignore[misc]
    """Every job has succeeded at once."""

    def _do_submit_job(self, job: Any, run_times: list[datetime]) -> None:
        self._run_job_success(job.id, [])


def _scheduler(engine: Engine) -> _Scheduler:
    logging.getLogger("apscheduler").setLevel(logging.ERROR)
    scheduler = _Scheduler(
        jobstores={"default": SQLAlchemyJobStore(engine=engine)},
        executors={"default": _NoExecutor()},
        timezone=UTC,
    )
    scheduler.start()
    return scheduler


def _engine(path: Path, pragmas: tuple[str, ...]) -> Engine:
    engine = create_engine(f"sqlite:///{path}")

    @event.listens_for(engine, "connect")
    def set_pragmas(connection: Any, record: object) -> None:
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}")

    return engine


def _durability_of(engine: Engine) -> str:
    with engine.connect() as connection:
        journal = connection.exec_driver_sql("PRAGMA journal_mode").scalar()
        level = connection.exec_driver_sql("PRAGMA synchronous").scalar()
    return f"journal_mode={journal}, synchronous={('OFF', 'NORMAL', 'FULL')[int(level or 0)]}"


@contextmanager
def _clock_at(instant: datetime) -> Iterator[None]:
    """The scheduler's module reads the time by this name only."""

    class Set(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return instant.astimezone(tz)

    true = base.datetime
    base.datetime = Set
    try:
        yield
    finally:
        base.datetime = true
