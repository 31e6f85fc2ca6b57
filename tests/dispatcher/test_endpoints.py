"""The rules for endpoints and addresses (schemas/endpoints.py)."""

import pytest

from schemas.endpoints import check_endpoint, refusal_of_address

ALLOWED = [
    "https://example.com",
    "https://example.com./hook",
    "http://EXAMPLE.com:8080/a%2Fb?x=1",
    "https://hooks.example.com:8443/services/T0/B0",
    "https://xn--bcher-kva.example/",
    "https://my_service.example/",
    "https://8.8.8.8/",
    "https://[2606:4700:4700::1111]:443/",
    "https://[64:ff9b::808:808]/",
    "https://1password.example/",
]

REFUSED = {
    "no_scheme": ("example.com/hook", "not a URL"),
    "ftp": ("ftp://example.com/", "only http and https"),
    "file": ("file://example.com/etc/passwd", "only http and https"),
    "no_host": ("https:///hook", "no readable host"),
    "user_info": ("https://user:hunter2@example.com/", "user info"),
    "user_info_hides_host": ("https://example.com@10.0.0.1/", "user info"),
    "backslash": ("https://example.com\\@10.0.0.1/", "user info"),
    "backslash_alone": ("https://example.com\\.evil.example/", "no readable host"),
    "fragment": ("https://example.com/#part", "fragment"),
    "space": ("https://example.com/a b", "printable ASCII"),
    "newline": ("https://example.com/\r\nx-evil:1", "printable ASCII"),
    "final_newline": ("https://example.com/\n", "printable ASCII"),
    "wide_digits": ("https://\uff11\uff12\uff17.0.0.1/", "printable ASCII"),
    "wide_dot": ("https://127\u30020\u30020\u30021/", "printable ASCII"),
    "percent_host": ("https://%31%32%37.0.0.1/", "no readable host"),
    "too_long": ("https://example.com/" + "a" * 2048, "at most 2048"),
    "port_zero": ("https://example.com:0/", "port 0"),
    "port_smtp": ("http://example.com:25/", "port 25"),
    "port_irc": ("http://example.com:6667/", "port 6667"),
    "port_beyond": ("http://example.com:65536/", "port 65536"),
    "port_empty": ("http://example.com:/", "no readable host"),
    "empty_label": ("https://a..example/", "not a host name"),
    "long_label": (f"https://{'a' * 64}.example/", "not a host name"),
    "long_name": (f"https://{'a.' * 127}example/", "not a host name"),
    "loopback": ("http://127.0.0.1/", "loopback"),
    "loopback_other": ("http://127.9.9.9:8080/", "loopback"),
    "loopback_final_dot": ("http://127.0.0.1./", "is a number"),
    "loopback_decimal": ("http://2130706433/", "is a number"),
    "loopback_octal": ("http://0177.0.0.1/", "is a number"),
    "loopback_hex": ("http://0x7f.0.0.1/", "is a number"),
    "loopback_hex_whole": ("http://0x7f000001/", "is a number"),
    "loopback_hex_last": ("http://127.0.0.0x1/", "is a number"),
    "loopback_short": ("http://127.1/", "is a number"),
    "loopback_v6": ("http://[::1]/", "loopback"),
    "loopback_mapped": ("http://[::ffff:127.0.0.1]/", "loopback"),
    "loopback_mapped_hex": ("http://[::ffff:7f00:1]/", "loopback"),
    "loopback_name": ("http://localhost/", "loopback"),
    "loopback_name_case": ("http://LocalHost.:8080/", "loopback"),
    "loopback_subdomain": ("http://app.localhost/", "loopback"),
    "private": ("http://192.168.1.1/", "private"),
    "metadata": ("http://169.254.169.254/latest/", "link-local or cloud metadata"),
    "not_v6": ("http://[1:2:3]/", "unreadable"),
    "v4_in_brackets": ("http://[10.0.0.1]/", "private"),
}


@pytest.mark.parametrize("url", ALLOWED)
def test_endpoint_public_is_allowed(url: str) -> None:
    assert check_endpoint(url) == ()


@pytest.mark.parametrize(("url", "words"), REFUSED.values(), ids=REFUSED)
def test_endpoint_unsafe_is_refused_with_reason(url: str, words: str) -> None:
    problems = check_endpoint(url)
    assert len(problems) == 1
    assert problems[0].startswith("endpoint: ")
    assert words in problems[0]


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8080/",
        "http://127.0.0.2:8080/",
        "http://[::1]:8080/",
        "http://[::ffff:127.0.0.1]:8080/",
        "http://localhost:8080/",
        "http://app.localhost:8080/",
    ],
)
def test_endpoint_loopback_is_allowed_by_the_setting(url: str) -> None:
    assert check_endpoint(url, allow_loopback=True) == ()


@pytest.mark.parametrize(
    "url",
    [
        "http://10.0.0.1/",
        "http://0.0.0.0/",
        "http://[::]/",
        "http://169.254.169.254/",
        "http://[fe80::1]/",
        "http://2130706433/",
        "http://[64:ff9b::7f00:1]/",
    ],
)
def test_endpoint_setting_allows_loopback_alone(url: str) -> None:
    assert len(check_endpoint(url, allow_loopback=True)) == 1


def test_endpoint_problems_are_all_listed() -> None:
    problems = check_endpoint("gopher://10.0.0.1:70/#x")
    assert [problem.split()[1] for problem in problems] == ["scheme", "a", "host", "port"]


def test_endpoint_problem_repeats_no_secret() -> None:
    problems = check_endpoint("ftp://user:hunter2@example.com/path-secret?key=s3cret#frag")
    assert problems
    for word in ("hunter2", "path-secret", "s3cret"):
        assert word not in " ".join(problems)


ADDRESSES = [
    ("8.8.8.8", None),
    ("100.63.255.255", None),
    ("100.128.0.0", None),
    ("172.15.255.255", None),
    ("172.32.0.0", None),
    ("223.255.255.255", None),
    ("168.63.129.15", None),
    ("2606:4700:4700::1111", None),
    ("::ffff:8.8.8.8", None),
    ("64:ff9b::8.8.8.8", None),
    ("0.0.0.0", "unspecified"),
    ("0.1.2.3", "unspecified"),
    ("10.255.255.255", "private"),
    ("100.64.0.1", "carrier-grade NAT"),
    ("100.100.100.200", "carrier-grade NAT"),
    ("127.255.255.255", "loopback"),
    ("168.63.129.16", "cloud metadata"),
    ("169.254.169.254", "link-local or cloud metadata"),
    ("172.16.0.1", "private"),
    ("172.31.255.255", "private"),
    ("192.0.0.192", "reserved"),
    ("192.0.2.1", "documentation"),
    ("192.88.99.1", "reserved"),
    ("192.168.0.1", "private"),
    ("198.19.0.1", "benchmark"),
    ("198.51.100.1", "documentation"),
    ("203.0.113.1", "documentation"),
    ("224.0.0.1", "multicast"),
    ("239.255.255.255", "multicast"),
    ("240.0.0.1", "reserved"),
    ("255.255.255.255", "reserved"),
    ("::", "unspecified"),
    ("::1", "loopback"),
    ("::7f00:1", "reserved"),
    ("::ffff:10.0.0.1", "private"),
    ("::ffff:0:0", "unspecified"),
    ("64:ff9b::10.0.0.1", "NAT64 of a private"),
    ("64:ff9b::169.254.169.254", "NAT64 of a link-local or cloud metadata"),
    ("64:ff9b:1::8.8.8.8", "local NAT64"),
    ("2001::1", "tunnel or reserved"),
    ("2001:db8::1", "documentation"),
    ("2002:7f00:1::", "6to4 tunnel"),
    ("2002:808:808::1", "6to4 tunnel"),
    ("3fff::1", "documentation"),
    ("4000::1", "reserved"),
    ("fd00:ec2::254", "private"),
    ("fe80::1", "link-local"),
    ("fe80::1%eth0", "scoped"),
    ("fec0::1", "reserved"),
    ("ff02::1", "multicast"),
    ("2606:4700::1%1", "scoped"),
    ("127.1", "unreadable"),
    ("", "unreadable"),
]


@pytest.mark.parametrize(("address", "kind"), ADDRESSES, ids=[row[0] for row in ADDRESSES])
def test_address_kind_decides(address: str, kind: str | None) -> None:
    assert refusal_of_address(address, allow_loopback=False) == kind
    kept = None if kind == "loopback" else kind
    assert refusal_of_address(address, allow_loopback=True) == kept
