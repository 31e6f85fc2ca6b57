"""A process whose open files are used up: `python -m tests.support.starved_process URL...`.

It makes one attempt at each address without a free file, gives the files back, makes one more at
the first, and writes what came of them all as JSON.
"""

import asyncio
import json
import os
import resource
import sys

from dispatcher.http_delivery import HttpDelivery
from tests.dispatcher.targets import a_delivery

FILES_MAX = 64


async def attempts(endpoints: list[str]) -> list[tuple[str, str | None, str | None]]:
    """Result, lack and error of each attempt."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES_MAX, FILES_MAX))
    found = []
    async with HttpDelivery(allow_loopback=True) as http:
        held = _use_up()
        found += [await http.deliver(a_delivery(endpoint)) for endpoint in endpoints]
        for file in held:
            os.close(file)
        found.append(await http.deliver(a_delivery(endpoints[0])))
    return [(result.transport_result.value, result.lack, result.error) for result in found]


def _use_up() -> list[int]:
    held: list[int] = []
    while True:
        try:
            held.append(os.open(os.devnull, os.O_RDONLY))
        except OSError:
            return held


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(attempts(sys.argv[1:]))))
