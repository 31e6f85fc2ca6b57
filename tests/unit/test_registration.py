"""The word in a data folder: whose it is while several servers run, and after one has ended."""

import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from adapters.clock_fixed import FixedClock
from control_api.parts import PARTS, Part
from punctual.api_host import ApiServer, serving
from punctual.client import connect_running
from punctual.data_folder import open_data_folder
from punctual.local_files import (
    SERVER_FILE,
    ToldServer,
    forget_server,
    tell_server,
    told_server,
    write_private,
)
from punctual.registration import SILENT_LOOKS_MAX, Registration
from punctual.transports import NoAnswer

ONE, OTHER = ToldServer("http://127.0.0.1:1", "one"), ToldServer("http://127.0.0.1:2", "other")


class Network:
    """The servers that live; one that is silent holds its port and says nothing."""

    def __init__(self, *living: ToldServer) -> None:
        self.living = set(living)
        self.silent: set[ToldServer] = set()

    def __call__(self, told: ToldServer) -> bool:
        if told in self.silent:
            raise NoAnswer("no answer within 1 s", was_sent=True, timed_out=True)
        if told not in self.living:
            raise NoAnswer("Connection refused", was_sent=False) from ConnectionRefusedError()
        return True


def registration(
    folder: Path, told: ToldServer, network: Callable[[ToldServer], bool]
) -> Registration:
    return Registration(folder, told, every_s=3_600, ask=network)


def test_first_server_registers_and_a_second_leaves_its_word(tmp_path: Path) -> None:
    network = Network(ONE, OTHER)
    with registration(tmp_path, ONE, network), registration(tmp_path, OTHER, network) as second:
        assert told_server(tmp_path) == ONE
        assert not second.look()


def test_second_server_that_ends_leaves_the_word_of_the_first(tmp_path: Path) -> None:
    network = Network(ONE, OTHER)
    with registration(tmp_path, ONE, network):
        with registration(tmp_path, OTHER, network):
            pass
        assert told_server(tmp_path) == ONE
    assert told_server(tmp_path) is None


@pytest.mark.parametrize("is_killed", [False, True], ids=["ended", "killed"])
def test_server_that_stays_takes_the_place_at_its_next_look(
    tmp_path: Path, is_killed: bool
) -> None:
    network = Network(ONE, OTHER)
    with registration(tmp_path, ONE, network), registration(tmp_path, OTHER, network) as second:
        if is_killed:
            network.living.remove(ONE)
        else:
            forget_server(tmp_path, ONE)
        assert second.look()
        assert told_server(tmp_path) == OTHER


def test_server_on_the_port_of_a_dead_one_takes_its_place_at_once(tmp_path: Path) -> None:
    tell_server(tmp_path, ONE)
    with registration(tmp_path, OTHER, lambda told: told == OTHER):
        assert told_server(tmp_path) == OTHER


def test_server_that_is_silent_for_a_moment_keeps_its_place(tmp_path: Path) -> None:
    network = Network(ONE, OTHER)
    with registration(tmp_path, ONE, network), registration(tmp_path, OTHER, network) as second:
        for _ in range(3):
            network.silent.add(ONE)
            assert [second.look() for _ in range(SILENT_LOOKS_MAX - 1)] == [False, False]
            network.silent.remove(ONE)
            assert not second.look()
        assert told_server(tmp_path) == ONE


def test_server_that_stays_silent_loses_its_place_and_does_not_take_it_back(tmp_path: Path) -> None:
    network = Network(ONE, OTHER)
    with (
        registration(tmp_path, ONE, network) as first,
        registration(tmp_path, OTHER, network) as second,
    ):
        network.silent.add(ONE)
        assert [second.look() for _ in range(SILENT_LOOKS_MAX)] == [False, False, True]
        network.silent.remove(ONE)
        assert not first.look()
        assert told_server(tmp_path) == OTHER


@pytest.mark.parametrize(
    "text",
    ["", "{", '{"url": "http://127.0.0.1:1"}', '{"url": "http://h:99999", "instance": "a"}',
     '{"url": "h", "instance": "a"}'],
)  # fmt: skip
def test_word_that_names_no_server_is_replaced(tmp_path: Path, text: str) -> None:
    (tmp_path / SERVER_FILE).write_text(text)
    with registration(tmp_path, ONE, Network(ONE)):
        assert told_server(tmp_path) == ONE


def test_server_whose_folder_takes_no_word_goes_on_and_tries_again(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    with registration(folder, ONE, Network(ONE)) as first:
        assert not first.look()
        folder.mkdir()
        assert first.look()


def test_private_file_that_cannot_be_put_in_place_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "token").mkdir()
    with pytest.raises(IsADirectoryError):
        write_private(tmp_path / "token", "text")
    assert os.listdir(tmp_path) == ["token"]


@contextmanager
def served(data: Path, *parts: Part) -> Iterator[ApiServer]:
    with (
        closing(open_data_folder(data, create=True)) as folder,
        serving(
            folder,
            FixedClock(),
            host="127.0.0.1",
            port=0,
            allow_loopback=False,
            parts=parts or PARTS,
        ) as server,
    ):
        yield server


@pytest.mark.parametrize("parts", [(), ("history",)], ids=["whole", "part"])
def test_api_beside_a_served_folder_leaves_the_commands_with_the_first(
    tmp_path: Path, parts: tuple[Part, ...]
) -> None:
    with served(tmp_path) as first:
        with served(tmp_path, *parts) as second:
            told = told_server(tmp_path)
            assert told is not None
            assert told.url == first.url != second.url
        asking = connect_running(tmp_path, server=None, token=None)
        assert asking is not None
        with asking:
            assert asking.get("/v1/tenants")["items"] == []


def test_part_of_the_api_alone_is_not_what_commands_ask(tmp_path: Path) -> None:
    with served(tmp_path, "history"):
        assert told_server(tmp_path) is None
