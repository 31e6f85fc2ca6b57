"""A store and lanes with somebody between every call: faults, crashes and races are put there."""

from collections.abc import Callable
from typing import Any, Protocol, cast

from ports.events import EventsPort
from ports.lanes import LanesPort
from ports.store import Store


class Crash(BaseException):
    """The process dies here; what it had in memory is gone."""


class Interceptor(Protocol):
    """Makes the call, or does not, or lets it have had its effect and fails all the same."""

    def __call__(self, name: str, call: Callable[[], Any], arguments: dict[str, Any]) -> Any: ...


def faulty_store(store: Store, intercept: Interceptor) -> Store:
    """The store with every call of its ports going through `intercept`."""

    def through(port: str) -> Any:
        return _Through(port, getattr(store, port), intercept)

    return Store(
        registry=through("registry"),
        due_index=through("due_index"),
        ledger=through("ledger"),
        history=through("history"),
        repair=through("repair"),
        leases=through("leases"),
        audit=through("audit"),
        outbox=through("outbox"),
        principals=through("principals"),
        signals=through("signals"),
        close=store.close,
        data_version=store.data_version,
    )


def faulty_lanes(lanes: LanesPort, intercept: Interceptor) -> LanesPort:
    """The lanes with every call going through `intercept`."""
    return cast(LanesPort, _Through("lanes", lanes, intercept))


def faulty_events(events: EventsPort, intercept: Interceptor) -> EventsPort:
    """The log of events with every call going through `intercept`."""
    return cast(EventsPort, _Through("events", events, intercept))


class _Through:
    """Stands in front of one port."""

    def __init__(self, port: str, inner: object, intercept: Interceptor) -> None:
        self._port = port
        self._inner = inner
        self._intercept = intercept

    def __getattr__(self, verb: str) -> Callable[..., Any]:
        method = getattr(self._inner, verb)

        def call(*args: Any, **kwargs: Any) -> Any:
            arguments = {"args": args, **kwargs}
            return self._intercept(
                f"{self._port}.{verb}", lambda: method(*args, **kwargs), arguments
            )

        return call
