"""Crontabs: what becomes of every kind of line, in the words of the payload."""

import json
from pathlib import Path

import pytest

from control_api.manifests.text import to_yaml
from punctual.crontabs.crontab import CrontabError, CrontabImport, import_crontab
from scheduling.limits import PAYLOAD_BYTES_MAX
from scheduling.vocabulary import MissedPolicy, OverlapPolicy
from schemas.manifest import TriggerSpec
from tests.support.manifests import load_manifest

CASES = Path(__file__).parents[1] / "cases" / "crontabs"
EXAMPLE = Path(__file__).parents[2] / "examples" / "crontab.example"


def imported(
    text: str, *, system: bool | None = None, zone: str | None = "UTC", name: str = "tab"
) -> CrontabImport:
    return import_crontab(
        text,
        system=system,
        tenant="acme",
        target_url="https://example.com/cron",
        zone=zone,
        name=name,
    )


def case(name: str) -> CrontabImport:
    return imported((CASES / name).read_text(), name=name)


def triggers(result: CrontabImport) -> list[TriggerSpec]:
    return list(result.manifest.tenants["acme"].triggers.values())


def summary(result: CrontabImport) -> list[tuple[str, str, str, str | None, str]]:
    """Name without its digest, schedule, zone, user and command of each trigger."""
    named = result.manifest.tenants["acme"].triggers.items()
    return [
        (
            name.rsplit("-", 1)[0],
            trigger.schedule[0],
            trigger.zone,
            trigger.payload["user"],
            trigger.payload["command"],
        )
        for name, trigger in named
    ]


def one(text: str) -> TriggerSpec:
    result = imported(text)
    assert result.refusals == []
    (trigger,) = triggers(result)
    return trigger


def refused(text: str) -> list[tuple[int, str]]:
    return [(refusal.line, refusal.reason) for refusal in imported(text).refusals]


def noted(text: str) -> list[tuple[int, str]]:
    return [(note.line, note.message) for note in imported(text).notes]


def test_system_crontab_converts_with_its_user_column() -> None:
    result = case("etc-crontab")
    anacron = "test -x /usr/sbin/anacron || { cd / && run-parts --report /etc/cron."
    assert summary(result) == [
        ("run-parts", "17 * * * *", "UTC", "root", "cd / && run-parts --report /etc/cron.hourly"),
        ("run-parts", "25 6 * * *", "UTC", "root", f"{anacron}daily; }}"),
        ("run-parts", "47 6 * * 7", "UTC", "root", f"{anacron}weekly; }}"),
        ("run-parts", "52 6 1 * *", "UTC", "root", f"{anacron}monthly; }}"),
    ]
    assert result.refusals == []
    assert [note.text("etc-crontab") for note in result.notes] == [
        "etc-crontab:8: read with a user column, as in /etc/crontab"
    ]


def test_cron_d_file_converts_and_its_refused_lines_are_listed() -> None:
    result = case("cron-d-shop")
    assert summary(result) == [
        (
            "export-orders",
            "*/5 7-19 * * 1-5",
            "UTC",
            "shop",
            "/srv/shop/bin/export-orders --since last >> /var/log/shop/export.log 2>&1",
        ),
        ("heartbeat", "* * * * *", "UTC", "shop", "/srv/shop/bin/heartbeat"),
        (
            "artisan",
            "@weekly",
            "UTC",
            "www-data",
            "php /srv/shop/artisan cache:prune --hours=48",
        ),
    ]
    assert [refusal.text("shop") for refusal in result.refusals] == [
        "shop:13: '@reboot\\t\\t\\tshop\\t/srv/shop/bin/warm-cache': @reboot names no time: let "
        "the machine's service manager start it, or say how often it should run",
        "shop:14: '0~59 4 * * *\\t\\tshop\\t/srv/shop/bin/sync-pr': `~` draws another time at "
        'every reload; write "H(0-59) 4 * * *", where H is a stable, spread choice',
    ]
    assert triggers(result)[0].payload["environment"] == {
        "MAILTO": "shop-ops@example.com",
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "SHOP_HOME": "/srv/shop current",
    }


def test_hairy_crontab_converts_what_can_mean_the_same() -> None:
    poll = "TZ=UTC flock -n /tmp/poll.lock /opt/etl/bin/poll"
    result = case("user-hairy")
    names = list(result.manifest.tenants["acme"].triggers)
    assert [(schedule, zone) for _, schedule, zone, _, _ in summary(result)] == [
        ("30 8 * * mon-fri", "Europe/Berlin"),
        ("0 6 1,15 * *", "Europe/Berlin"),
        ("0 17 * * FRI", "America/New_York"),
        ("*/15 9-17 * * 1-5", "America/New_York"),
        ("*/15 9-17 * * 6", "America/New_York"),
        ("@Daily", "America/New_York"),
        ("45 3 * * *", "America/New_York"),
        ("H 5 * * *", "America/New_York"),
        ("0 5 * * 1", "America/New_York"),
    ]
    assert [command for *_, command in summary(result)] == [
        'cd $HOME/reports && ./daily.sh --day "$(date +%Y-%m-%d)" > "out-$(date +%F).log"',
        '/usr/bin/mail -s "time sheets" team@example.com',
        "nice -n 10 /opt/etl/bin/close-week --rate 5",
        poll,
        poll,
        "/opt/etl/bin/rotate # not a comment: part of the command",
        "/opt/etl/bin/continues \\",
        "/opt/etl/bin/spread",
        "tar -zcf /var/backups/home.tgz /home/",
    ]
    assert names[4] == f"{names[3]}-2"
    assert [refusal.line for refusal in result.refusals] == [19, 20, 21, 22, 23, 24, 25, 26, 28]
    assert [note.line for note in result.notes] == [10, 13, 17, 27, 30]


def test_hairy_crontab_keeps_settings_as_cron_reads_them() -> None:
    found = triggers(case("user-hairy"))
    settings = {
        "MAILTO": "",
        "HOME": "/srv/ana",
        "GREETING": "  two blanks kept  ",
        "BARE": "trailing blanks dropped",
    }
    assert found[0].payload["environment"] == settings
    assert found[-1].payload["environment"] == {**settings, "TZ": "Asia/Tokyo"}


def test_example_crontab_converts_and_refuses_only_reboot() -> None:
    result = imported(EXAMPLE.read_text(), zone="Europe/Berlin")
    assert [(name, schedule, zone) for name, schedule, zone, _, _ in summary(result)] == [
        ("digest", "0 9 * * MON-FRI", "Europe/Berlin"),
        ("load-rates", "*/15 * * * *", "Europe/Berlin"),
        ("close-week", "30 17 * * FRI", "America/New_York"),
        ("invoice", "@monthly", "America/New_York"),
    ]
    assert [refusal.line for refusal in result.refusals] == [20]


@pytest.mark.parametrize("name", ["etc-crontab", "cron-d-shop", "user-hairy"])
def test_imported_manifest_survives_to_yaml(name: str) -> None:
    manifest = case(name).manifest
    text = to_yaml(manifest)
    assert load_manifest(text, name=name, now_us=0, allow_loopback=False) == manifest


def test_payload_holds_the_five_facts_of_a_line() -> None:
    trigger = one("SHELL=/bin/sh\n0 9 * * * mail joe%Hello,%there\n")
    assert trigger.payload == {
        "command": "mail joe",
        "stdin": "Hello,\nthere\n",
        "user": None,
        "environment": {"SHELL": "/bin/sh"},
        "line": "0 9 * * * mail joe%Hello,%there",
    }
    assert trigger.target == "cron"
    assert trigger.missed_policy is MissedPolicy.FIRE_ONCE_NOW
    assert trigger.overlap_policy is OverlapPolicy.ALLOW


@pytest.mark.parametrize(
    ("rest", "command", "stdin"),
    [
        pytest.param("a b", "a b", None, id="no-percent"),
        pytest.param(r"date +\%F", "date +%F", None, id="escaped"),
        pytest.param("cat%one%two", "cat", "one\ntwo\n", id="input-lines"),
        pytest.param("cat%", "cat", "\n", id="empty-input"),
        pytest.param("cat%a%", "cat", "a\n", id="last-percent-is-the-newline"),
        pytest.param(r"cat%100\%%b", "cat", "100%\nb\n", id="escaped-in-the-input"),
        pytest.param(r"echo \\%x", r"echo \\", "x\n", id="escaped-backslash-before-percent"),
        pytest.param(r"cat%\n\x", "cat", "\\n\\x\n", id="other-backslashes-stay"),
    ],
)
def test_percent_sign_is_read_as_cron_reads_it(rest: str, command: str, stdin: str | None) -> None:
    payload = one(f"0 9 * * * {rest}\n").payload
    assert (payload["command"], payload["stdin"]) == (command, stdin)


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        pytest.param("A=b", "A", "b", id="plain"),
        pytest.param("A = b c ", "A", "b c", id="blanks-around"),
        pytest.param('A="b c "', "A", "b c ", id="double-quotes"),
        pytest.param("A = ' b'  ", "A", " b", id="single-quotes"),
        pytest.param("A=b'c", "A", "b'c", id="quote-inside"),
        pytest.param("A=", "A", "", id="empty"),
        pytest.param('A=""', "A", "", id="empty-quotes"),
        pytest.param('"A B"=c', "A B", "c", id="quoted-name"),
        pytest.param("  A=$HOME/x=y", "A", "$HOME/x=y", id="nothing-is-expanded"),
    ],
)
def test_setting_is_read_with_crons_quotes(line: str, name: str, value: str) -> None:
    assert one(f"{line}\n0 9 * * * x\n").payload["environment"] == {name: value}


def test_setting_holds_only_for_the_entries_after_it() -> None:
    found = triggers(imported("A=1\n0 9 * * * x\nA=2\nB=3\n0 9 * * * y\n"))
    assert [trigger.payload["environment"] for trigger in found] == [
        {"A": "1"},
        {"A": "2", "B": "3"},
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        pytest.param(
            "@reboot x",
            "@reboot names no time: let the machine's service manager start it, or say how often "
            "it should run",
            id="reboot",
        ),
        pytest.param("@every_minute x", 'write "* * * * *"', id="every-minute"),
        pytest.param("@600 x", "write `schedule: every 600s` in a manifest", id="freebsd-seconds"),
        pytest.param(
            "~ 3 * * * x",
            '`~` draws another time at every reload; write "H 3 * * *", where H is a stable, '
            "spread choice",
            id="random",
        ),
        pytest.param(
            "~30 5~ * * * x",
            '`~` draws another time at every reload; write "H(0-30) H(5-23) * * *", where H is a '
            "stable, spread choice",
            id="random-with-one-bound",
        ),
        pytest.param(
            "0 9 * *",
            "too few fields: an entry is five time fields, or an @nickname, and a command",
            id="too-few",
        ),
        pytest.param(
            "0 9 * * *",
            "no command: an entry is five time fields, or an @nickname, and a command",
            id="no-command",
        ),
        pytest.param(
            "@daily",
            "no command: an entry is five time fields, or an @nickname, and a command",
            id="nickname-without-command",
        ),
        pytest.param(
            "*/10 * * * * * x",
            "six time fields, or a slip: cron reads five and refuses a command that starts with "
            "`*`; an entry with seconds belongs in a manifest",
            id="seconds",
        ),
        pytest.param(
            "0 9 * * * -q x",
            "BSD cron's flags before a command are not read: remove them",
            id="bsd-flag",
        ),
        pytest.param("0 9 * * * %x", "no command before the first %", id="only-input"),
        pytest.param(
            'A="b', "a setting with unbalanced quotes: close them, or drop them", id="open-quote"
        ),
        pytest.param(
            'A="b" c',
            "a setting with unbalanced quotes: close them, or drop them",
            id="text-after-the-quote",
        ),
        pytest.param("0 9 * * * x\0y", "holds a NUL character: save the file as text", id="nul"),
        pytest.param(
            "0 24 * * * x",
            "hour: '24': use numbers from 0 to 23, `*`, ranges, steps and lists",
            id="hour-24",
        ),
    ],
)
def test_line_that_cannot_mean_the_same_is_refused_and_the_rest_converts(
    line: str, reason: str
) -> None:
    text = f"0 1 * * * before\n{line}\n0 2 * * * after\n"
    assert refused(text) == [(2, reason)]
    assert [command for *_, command in summary(imported(text))] == ["before", "after"]


def test_refusal_shows_at_most_forty_characters_of_the_line() -> None:
    result = imported(f"@reboot {'x' * 100}\n")
    assert result.refusals[0].source == "@reboot " + "x" * 32


def test_command_too_long_for_a_payload_is_refused_with_the_limit() -> None:
    command = "x" * PAYLOAD_BYTES_MAX
    found = refused(f"0 9 * * * {command}\n0 9 * * * {command[:1000]}\n")
    assert len(found) == 1
    assert found[0][0] == 1
    assert found[0][1].endswith("the limit is 65,536: send a reference to the data instead")


def test_zone_of_cron_tz_holds_for_the_entries_after_it() -> None:
    text = "0 9 * * * a\nCRON_TZ=Asia/Tokyo\n0 9 * * * b\nCRON_TZ=:Europe/Paris\n0 9 * * * c\n"
    result = imported(text)
    assert [trigger.zone for trigger in triggers(result)] == ["UTC", "Asia/Tokyo", "Europe/Paris"]
    assert [trigger.payload["environment"] for trigger in triggers(result)] == [{}, {}, {}]
    assert noted(text) == [
        (
            2,
            "CRON_TZ is the zone of the entries after it ('Asia/Tokyo'), as in cronie; Debian's "
            "cron ignores it and uses the host's zone",
        ),
        (
            4,
            "CRON_TZ is the zone of the entries after it ('Europe/Paris'), as in cronie; Debian's "
            "cron ignores it and uses the host's zone",
        ),
    ]


def test_cron_tz_that_is_no_zone_refuses_its_entries_instead_of_moving_them() -> None:
    found = refused("CRON_TZ=Mars/Base\n0 9 * * * x\n")
    assert [line for line, _ in found] == [2]
    assert found[0][1].startswith("zone: 'Mars/Base': not a zone")


def test_tz_is_the_commands_environment_and_moves_no_schedule() -> None:
    trigger = one("TZ=Asia/Tokyo\n0 9 * * * x\n")
    assert trigger.zone == "UTC"
    assert trigger.payload["environment"] == {"TZ": "Asia/Tokyo"}
    assert noted("TZ=Asia/Tokyo\n0 9 * * * x\n") == [
        (1, "TZ is kept for the command and moves no schedule: see CRON_TZ and --zone")
    ]


def test_entry_without_any_zone_stops_the_import() -> None:
    with pytest.raises(CrontabError, match=r"line 2: no zone: give --zone, as in --zone Europe"):
        imported("TZ=Asia/Tokyo\n0 9 * * * x\n", zone=None)


def test_cron_tz_above_every_entry_needs_no_zone_option() -> None:
    result = imported("CRON_TZ=Asia/Tokyo\n0 9 * * * x\n", zone=None)
    assert [trigger.zone for trigger in triggers(result)] == ["Asia/Tokyo"]


def test_unknown_zone_option_stops_the_import() -> None:
    with pytest.raises(CrontabError, match=r"^--zone: 'Mars/Base': not a zone"):
        imported("0 9 * * * x\n", zone="Mars/Base")


def test_unusable_tenant_stops_the_import() -> None:
    with pytest.raises(CrontabError, match=r"^--tenant: a name is lower-case letters"):
        import_crontab(
            "", system=None, tenant="A", target_url="https://a.example/", zone="UTC", name="tab"
        )


@pytest.mark.parametrize(
    ("text", "name", "user"),
    [
        pytest.param("0 9 * * * root x\n", "tab", "root", id="well-known-account"),
        pytest.param("0 9 * * * ana x\n", "/etc/cron.d/ana", "ana", id="path-of-cron.d"),
        pytest.param("0 9 * * * ana x\n", "/etc/crontab", "ana", id="path-of-the-system-table"),
        pytest.param("0 9 * * * php x\n", "tab", None, id="program-that-looks-like-a-user"),
        pytest.param("0 9 * * * mail joe\n", "tab", None, id="program-named-like-an-account"),
        pytest.param("0 9 * * * root\n", "tab", None, id="nothing-after-it"),
        pytest.param("0 9 * * * root x\n0 9 * * * /bin/y z\n", "tab", None, id="one-is-a-path"),
    ],
)
def test_form_is_found_from_the_path_or_the_entries(text: str, name: str, user: str | None) -> None:
    assert triggers(imported(text, name=name))[0].payload["user"] == user


def test_form_that_is_told_is_not_guessed() -> None:
    assert triggers(imported("0 9 * * * ana x\n", system=True))[0].payload["user"] == "ana"
    text = "0 9 * * * root x\n"
    assert triggers(imported(text, system=False))[0].payload["command"] == "root x"


def test_system_form_without_command_is_refused() -> None:
    result = imported("0 9 * * * x\n0 9 * * * /bin/y z\n", system=True)
    assert [refusal.reason for refusal in result.refusals] == [
        "no command after the user: is this a user's crontab, without that column?",
        "the user column holds no user name: is this a user's crontab, without it?",
    ]


def test_carriage_returns_are_dropped_with_a_note() -> None:
    text = "A=1\r\n0 9 * * * x\r\n"
    assert one(text).payload["command"] == "x"
    assert noted(text) == [
        (1, "ends its lines with CR LF; the CRs were dropped, cron would keep them")
    ]


def test_last_line_without_newline_is_taken_with_a_note() -> None:
    assert one("0 9 * * * x").payload["command"] == "x"
    assert noted("A=1\n0 9 * * * x") == [(2, "the last line has no newline: cron would ignore it")]


def test_leading_dash_is_taken_with_a_note() -> None:
    assert one("-0 9 * * * x\n").schedule == ("0 9 * * *",)
    assert noted("-0 9 * * * x\n") == [
        (1, "the leading `-` (keep out of the log) has no meaning here")
    ]


def test_comments_and_blank_lines_become_nothing() -> None:
    result = imported("# a\n\n   \t\n  # b\n\n")
    assert (triggers(result), result.refusals, result.notes) == ([], [], [])


def names(text: str) -> list[str]:
    return list(imported(text).manifest.tenants["acme"].triggers)


def test_name_stays_when_the_schedule_or_the_place_changes() -> None:
    assert names("0 9 * * * /bin/backup --all\n") == ["backup-37bcba"]
    assert names("A=1\n0 8 * * * x\n30 7 * * 1 /bin/backup --all\n")[1] == "backup-37bcba"


def test_same_command_twice_is_numbered_in_the_files_order() -> None:
    found = names("0 9 * * * /bin/x\n0 10 * * * /bin/x\n0 11 * * * /bin/x\n")
    assert found == [found[0], f"{found[0]}-2", f"{found[0]}-3"]


@pytest.mark.parametrize(
    ("command", "word"),
    [
        pytest.param("/usr/local/bin/Backup.sh --all", "backup", id="path-and-extension"),
        pytest.param("cd /srv && A=1 ./run-all", "run-all", id="after-cd-and-assignment"),
        pytest.param("[ -x /bin/y ] && /bin/y", "y", id="after-a-test"),
        pytest.param("nice -n 10 ionice -c3 python3 /opt/etl/load.py", "load", id="wrappers"),
        pytest.param("flock -n /tmp/a.lock /opt/poll", "poll", id="wrapper-with-an-argument"),
        pytest.param("timeout 5m sudo -u ana /opt/x_y.rb", "x-y", id="option-with-an-argument"),
        pytest.param("/opt/größe", "gr-e", id="not-ascii"),
        pytest.param("{ :; }", "job", id="no-word"),
        pytest.param("/bin/" + "a" * 100, "a" * 40, id="long"),
    ],
)
def test_name_starts_with_the_commands_own_word(command: str, word: str) -> None:
    assert names(f"0 9 * * * {command}\n")[0].rsplit("-", 1)[0] == word


def test_line_that_is_not_utf8_is_refused_and_the_others_convert() -> None:
    content = b"* * * * * echo before\n* * * * * echo \xff\xfe latin\n* * * * * echo after\n"
    text = content.decode(errors="surrogateescape")
    result = import_crontab(
        text, system=False, tenant="cron", target_url="http://127.0.0.1:8123/", zone="UTC", name="f"
    )
    assert [(refusal.line, "UTF-8" in refusal.text("f")) for refusal in result.refusals] == [
        (2, True)
    ]
    commands = [
        json.loads(trigger.payload_json)["command"]
        for trigger in result.manifest.tenants["cron"].triggers.values()
    ]
    assert commands == ["echo before", "echo after"]
