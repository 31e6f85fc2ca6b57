"""Which endpoints a fire may be sent to: rules over a URL's text and over IP addresses.

The text rule runs when a target is defined and again before each attempt. It proves nothing about
a name, whose addresses are known only at connect time: there `refusal_of_address` judges each
answer. The accepted text is narrow (ASCII, no user info, no odd spellings of an address), so that
no two URL parsers can disagree about its host.
"""

import re
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final

from scheduling.limits import ECHO_CHARS_MAX, TARGET_URL_CHARS_MAX

# Sources: the IANA special-purpose address registries, and the clouds' own pages for the two
# addresses that look public or are not link-local. Written out here because `ipaddress.is_global`
# changed its mind between patch releases of Python.
_REFUSED_V4: Final = tuple(
    (IPv4Network(network), kind)
    for network, kind in (
        ("0.0.0.0/8", "unspecified"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "carrier-grade NAT"),  # holds 100.100.100.200, a metadata service
        ("127.0.0.0/8", "loopback"),
        ("168.63.129.16/32", "cloud metadata"),  # Azure's host, inside a public range
        ("169.254.0.0/16", "link-local or cloud metadata"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "reserved"),
        ("192.0.2.0/24", "documentation"),
        ("192.88.99.0/24", "reserved"),
        ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "benchmark"),
        ("198.51.100.0/24", "documentation"),
        ("203.0.113.0/24", "documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
    )
)
_REFUSED_V6: Final = tuple(
    (IPv6Network(network), kind)
    for network, kind in (
        ("::/128", "unspecified"),
        ("::1/128", "loopback"),
        ("64:ff9b:1::/48", "local NAT64"),
        ("2001::/23", "tunnel or reserved"),  # Teredo, ORCHID, benchmark
        ("2001:db8::/32", "documentation"),
        ("2002::/16", "6to4 tunnel"),
        ("3fff::/20", "documentation"),
        ("fc00::/7", "private"),  # holds fd00:ec2::254, a metadata service
        ("fe80::/10", "link-local"),
        ("ff00::/8", "multicast"),
    )
)
_GLOBAL_V6: Final = IPv6Network("2000::/3")
_NAT64: Final = IPv6Network("64:ff9b::/96")

_URL = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<authority>[^/?#]*)(?P<rest>.*)")
_AUTHORITY = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(?P<port>\d{1,5}))?")
_NUMERIC_LABEL = re.compile(r"\d+|0[xX][0-9A-Fa-f]*")  # no top-level domain looks like this
_PRINTABLE = re.compile(r"[!-~]+")
_HOST_CHARS_MAX: Final = 253  # RFC 1035, without the final dot
_LABEL_CHARS_MAX: Final = 63
_PORTS_BELOW_1024: Final = frozenset({80, 443})
# The ports above 1023 that the WHATWG Fetch standard blocks: their protocols could take an HTTP
# request for commands of their own.
_BLOCKED_PORTS: Final = frozenset(
    {1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668}
    | {6669, 6679, 6697, 10080}
)


@lru_cache(maxsize=4_096)
def check_endpoint(url: str, allow_loopback: bool = False) -> tuple[str, ...]:
    """The problems of an endpoint, each naming its part and the remedy; empty when it is fine.

    Pure: nothing is resolved. No message repeats user info, path or query, which may hold secrets.
    """
    if not url.isascii() or not _PRINTABLE.fullmatch(url):
        return (
            "endpoint: only printable ASCII without spaces: percent-encode the path and write the"
            " host in its xn-- form",
        )
    if len(url) > TARGET_URL_CHARS_MAX:
        return (f"endpoint: {len(url)} characters, at most {TARGET_URL_CHARS_MAX}: shorten it",)
    match = _URL.fullmatch(url)
    if match is None:
        return ("endpoint: not a URL: write https://host/path",)
    problems = []
    if match["scheme"].lower() not in ("http", "https"):
        problems.append(f"endpoint: scheme {_echo(match['scheme'])}: only http and https")
    if "#" in match["rest"]:
        problems.append("endpoint: a fragment is never sent: remove it from the # on")
    return (*problems, *_check_authority(match["authority"], allow_loopback=allow_loopback))


def is_loopback_endpoint(url: str) -> bool:
    """Whether the local setting, and nothing else, is what makes the endpoint a usable one."""
    return not check_endpoint(url, True) and bool(check_endpoint(url, False))


def refusal_of_address(text: str, *, allow_loopback: bool) -> str | None:
    """Why an IP address may not be connected to, in a word or two; None when it may.

    An IPv4 address inside IPv6 (mapped, NAT64) is judged by itself. 6to4 and Teredo are refused
    whatever they hold: both are retired, and their relays hide where a packet ends.
    """
    try:
        address = ip_address(text)
    except ValueError:
        return "unreadable"
    kind = _kind_v4(address) if isinstance(address, IPv4Address) else _kind_v6(address)
    return None if allow_loopback and kind == "loopback" else kind


def _check_authority(authority: str, *, allow_loopback: bool) -> list[str]:
    if "@" in authority:
        return ["endpoint: user info before the @ is not allowed: sign in by the webhook signature"]
    match = _AUTHORITY.fullmatch(authority)
    if match is None:
        return ["endpoint: no readable host and port: write host or host:port after the //"]
    problem = _problem_of_host(match["host"].lower(), allow_loopback=allow_loopback)
    problems = [] if problem is None else [f"endpoint: host {_echo(match['host'])} {problem}"]
    if match["port"] is not None and not _is_port_allowed(int(match["port"])):
        problems.append(
            f"endpoint: port {match['port']} is not allowed: use 80, 443 or one from 1024 to 65535"
            " that no other protocol is known for"
        )
    return problems


def _problem_of_host(host: str, *, allow_loopback: bool) -> str | None:
    name = host.removesuffix(".")
    labels = name.split(".")
    if host.startswith("[") or (_NUMERIC_LABEL.fullmatch(labels[-1]) and _is_address(host)):
        kind = refusal_of_address(host.strip("[]"), allow_loopback=allow_loopback)
    elif _NUMERIC_LABEL.fullmatch(labels[-1]):
        return "is a number: write an address as four decimal numbers, without a final dot"
    elif len(name) > _HOST_CHARS_MAX or not all(0 < len(x) <= _LABEL_CHARS_MAX for x in labels):
        return "is not a host name: labels have 1 to 63 characters, 253 in all"
    elif labels[-1] == "localhost" and not allow_loopback:
        kind = "loopback"
    else:
        kind = None
    return None if kind is None else f"is refused ({kind} address): {_remedy(kind)}"


def _remedy(kind: str) -> str:
    if kind == "loopback":
        return "use a public address, or allow loopback targets (a local setting)"
    return "use a public address"


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _is_port_allowed(port: int) -> bool:
    if port < 1_024:
        return port in _PORTS_BELOW_1024
    return port <= 65_535 and port not in _BLOCKED_PORTS


def _kind_v4(address: IPv4Address) -> str | None:
    return next((kind for network, kind in _REFUSED_V4 if address in network), None)


def _kind_v6(address: IPv6Address) -> str | None:
    if address.scope_id is not None:
        return "scoped"
    if address.ipv4_mapped is not None:
        return _kind_v4(address.ipv4_mapped)
    if address in _NAT64:
        # Never the plain word `loopback`: this one lies behind the translator, not on this host.
        kind = _kind_v4(IPv4Address(int(address) & 0xFFFF_FFFF))
        return None if kind is None else f"NAT64 of a {kind}"
    for network, kind in _REFUSED_V6:
        if address in network:
            return kind
    return None if address in _GLOBAL_V6 else "reserved"


def _echo(text: str) -> str:
    return text if len(text) <= ECHO_CHARS_MAX else text[: ECHO_CHARS_MAX - 3] + "..."
