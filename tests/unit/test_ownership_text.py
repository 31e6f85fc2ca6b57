"""The line that a host serves for a tenant, and where: stable, and of one origin alone."""

import pytest

from control_api.ownership_text import ownership_text, ownership_url
from schemas.well_known import web_origin

SAME_ORIGIN = [
    "https://hook.example",
    "https://hook.example/",
    "https://hook.example/fires?a=1",
    "https://HOOK.Example:443/fires",
    "HTTPS://hook.example./x",
]
OTHER_ORIGIN = [
    "http://hook.example/",
    "https://hook.example:8443/",
    "https://www.hook.example/",
    "https://example/",
    "https://[2606:4700::1111]/",
]


def test_text_is_the_documented_digest() -> None:
    # printf 'acme\0https://hook.example:443' | b2sum -l 160
    assert (
        ownership_text("acme", "https://hook.example/fires")
        == "punctual-ownership-v1=fed660643badc2e4ff39cc13cad3fbe3c0acc75d"
    )


@pytest.mark.parametrize("endpoint", SAME_ORIGIN)
def test_text_and_url_are_one_for_an_origin(endpoint: str) -> None:
    assert ownership_text("acme", endpoint) == ownership_text("acme", SAME_ORIGIN[0])
    assert ownership_url(endpoint) == "https://hook.example/.well-known/punctual-ownership"
    assert web_origin(endpoint) == "https://hook.example"


def test_text_differs_by_tenant_and_by_origin() -> None:
    texts = [ownership_text("acme", endpoint) for endpoint in (SAME_ORIGIN[0], *OTHER_ORIGIN)]
    texts += [ownership_text(tenant, SAME_ORIGIN[0]) for tenant in ("Acme", "acm", "other")]
    assert len(set(texts)) == len(texts)


URLS = {
    "http": ("http://hook.example:80/x", "http://hook.example"),
    "http_on_443": ("http://hook.example:443/", "http://hook.example:443"),
    "https_on_80": ("https://hook.example:80/", "https://hook.example:80"),
    "port": ("http://127.0.0.1:8123/fires", "http://127.0.0.1:8123"),
    "ipv6": ("https://[2606:4700::1111]:8443/", "https://[2606:4700::1111]:8443"),
    "ipv6_default_port": ("https://[2606:4700::443]/", "https://[2606:4700::443]"),
}


@pytest.mark.parametrize(("endpoint", "origin"), URLS.values(), ids=URLS)
def test_url_is_below_the_origin(endpoint: str, origin: str) -> None:
    assert web_origin(endpoint) == origin
    assert ownership_url(endpoint) == origin + "/.well-known/punctual-ownership"


def test_text_of_no_url_is_a_clear_error() -> None:
    with pytest.raises(ValueError, match="names no host: write https://host/path"):
        ownership_text("acme", "hook.example")
