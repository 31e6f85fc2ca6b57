"""All benches that report, one after the other, into bench/results and docs/benchmarks.md.

Run: `python -m bench` on an otherwise idle machine, or `python -m bench commit wake` for some of
them; `--write` alone writes the page from the results that are there.
"""

import argparse
import subprocess
import sys
from typing import Final

from bench.page import PAGE, RESULTS, reports_in, with_figures

BENCHES: Final = ("api", "commit", "lateness", "recurrence", "wake")


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("benches", nargs="*", metavar="BENCH", help=f"of {', '.join(BENCHES)}")
    parser.add_argument("--write", action="store_true", help="measure nothing")
    options = parser.parse_args()
    unknown = sorted(set(options.benches) - set(BENCHES))
    if unknown:
        parser.error(f"no bench called {', '.join(unknown)}: there are {', '.join(BENCHES)}")
    if not options.write:
        for bench in options.benches or BENCHES:
            _run(bench)
    page = with_figures(PAGE.read_text(encoding="utf-8"), reports_in(RESULTS))
    PAGE.write_text(page, encoding="utf-8")
    print(f"Wrote {PAGE.name}.")


def _run(bench: str) -> None:
    print(f"== {bench}", flush=True)
    results = RESULTS / f"{bench}.json"
    command = [sys.executable, "-m", f"bench.bench_{bench}", "--json", str(results)]
    subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
