"""What the API stands on: the ports of one installation, opened once a process."""

from dataclasses import dataclass, field
from typing import Final

from control_api.gate import ChangeGate
from control_api.host_checks import HostChecks
from ports.attempt_tokens import AttemptTokensPort
from ports.authenticator import AuthenticatorPort
from ports.events import EventsPort
from ports.lanes import LanesPort
from ports.ownership import OwnershipPort
from ports.payload_keys import PayloadKeysPort
from ports.store import Store
from ports.time_authority import TimeAuthorityPort

LOOPBACK_HOSTS: Final = frozenset({"127.0.0.1", "::1", "localhost"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiSettings:
    """allow_loopback:   targets on this machine are usable, without a proof
    smear_s_default:  of a new tenant that names none
    instance:         a secret of the process and its data folder, by which /healthz proves itself;
                      without one it proves nothing
    """

    allow_loopback: bool = False
    smear_s_default: int = 0
    instance: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """Shared by all requests; every port in it is thread-safe."""

    store: Store
    lanes: LanesPort
    events: EventsPort
    clock: TimeAuthorityPort
    gate: ChangeGate
    authenticator: AuthenticatorPort | None  # None: whoever reaches the server, on loopback alone
    payload_keys: PayloadKeysPort
    attempt_tokens: AttemptTokensPort
    ownership: OwnershipPort
    settings: ApiSettings
    host_checks: HostChecks = field(default_factory=HostChecks)
