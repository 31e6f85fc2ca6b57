"""The store: the ports that one technology serves together, over one transaction log."""

from collections.abc import Callable
from dataclasses import dataclass

from ports.audit import AuditPort
from ports.due_index import DueIndexPort
from ports.history import HistoryPort
from ports.leases import LeasePort
from ports.ledger import LedgerPort
from ports.outbox import OutboxPort
from ports.principals import PrincipalsPort
from ports.registry import RegistryPort
from ports.repair import RepairPort
from ports.signals import SignalsPort


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """A bundle of ports; `close` ends its connections, `data_version` changes with any commit."""

    registry: RegistryPort
    due_index: DueIndexPort
    ledger: LedgerPort
    history: HistoryPort
    repair: RepairPort
    leases: LeasePort
    audit: AuditPort
    outbox: OutboxPort
    principals: PrincipalsPort
    signals: SignalsPort
    close: Callable[[], None]
    data_version: Callable[[], int]
