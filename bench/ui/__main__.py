"""``python -m bench.ui``: build sizes, first paint of a 500-node run, a list of 500 runs, frames while panning.

python -m bench.ui             # medians of five
python -m bench.ui --rounds 1  # a quick look
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.api.figures import Figure
from bench.ui.measuring import median, openings, panning
from plait.server.ui import STATIC
from tests.e2e.browsing import Desk
from tests.e2e.serving import Server

NODES = 500
ROWS = 500
FIRST_LOAD = 300_000
PAINT_MS = 1000.0
FRAME_MS = 1000 / 30
"""A picture that moves thirty times a second still follows the hand."""
CARD, ROW = ".react-flow__node", "[data-run-row]"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.ui", description="The web UI in a browser.")
    parser.add_argument("--rounds", type=int, default=5, help="of each figure; the median is shown")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    found = [*_sizes(), *_times(max(1, options.rounds))]
    if options.json:
        print(json.dumps([figure.to_json() for figure in found], indent=2, ensure_ascii=False))
    else:
        _show(found)
    return 0 if all(figure.met is not False for figure in found) else 1


def _sizes() -> Iterator[Figure]:
    """Of the whole build: what a page loads first is less."""
    for kind in ("js", "css"):
        files = sorted(STATIC.glob(f"assets/*.{kind}"))
        packed = sum(len(gzip.compress(file.read_bytes(), 9)) for file in files)
        yield Figure(f"all {kind}, gzip", "", f"{packed / 1000:.1f} kB in {len(files)} files", None)


def _times(rounds: int) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder), module="bench.ui.flows")
        desk = Desk()
        try:
            server.start()
            _prepare(server)
            yield _loaded(desk, server)
            for flow in ("long", "nested"):
                yield from desk.do(lambda flow=flow: list(_run_page(desk, server, flow, rounds)))
            yield from desk.do(lambda: list(_list_page(desk, server, rounds)))
        finally:
            desk.close()
            server.close()


def _prepare(server: Server) -> None:
    for flow in ("long", "nested"):
        server.begin(flow, NODES, id=flow)
        assert len(server.ended(flow)["view"]["nodes"]) >= NODES
    for number in range(ROWS):
        server.begin("short", "x", id=f"run-{number:03}", labels={"kind": "many"})


def _loaded(desk: Desk, server: Server) -> Figure:
    """What the browser fetches for the page of a run, as the server packs it."""

    def look() -> int:
        context = desk.context(server.url)
        page = context.new_page()
        names: set[str] = set()
        page.on("request", lambda request: names.add(request.url.removeprefix(f"{server.url}/")))
        page.goto("/runs/long")
        page.wait_for_selector(CARD)
        context.close()
        files = [STATIC / name for name in names if (STATIC / name).is_file()] + [STATIC / "index.html"]
        return sum(len(gzip.compress(file.read_bytes(), 9)) for file in files)

    size = desk.do(look)
    return Figure(
        "first load of a run's page, gzip", f"≤ {FIRST_LOAD // 1000} kB", f"{size / 1000:.1f} kB", size <= FIRST_LOAD
    )


def _run_page(desk: Desk, server: Server, flow: str, rounds: int) -> Iterator[Figure]:
    found = openings(desk, server.url, f"/runs/{flow}", CARD, rounds)
    name = f"{NODES} nodes, {flow}"
    yield _limited(f"{name}: first paint", PAINT_MS, median([one.paint for one in found]))
    yield _limited(f"{name}: nodes on screen", PAINT_MS, median([one.shown for one in found]))
    yield Figure(f"{name}: free for the hand", "", f"{median([one.usable for one in found]):.0f} ms", None)
    gaps = sorted(panning(desk, server.url, f"/runs/{flow}", CARD))
    yield _limited(f"{name}: between frames while panning, median", FRAME_MS, median(gaps))
    yield Figure(f"{name}: between frames while panning, p95", "", f"{gaps[int(0.95 * len(gaps))]:.1f} ms", None)


def _list_page(desk: Desk, server: Server, rounds: int) -> Iterator[Figure]:
    found = openings(desk, server.url, "/runs?label=kind:many", ROW, rounds)
    yield _limited("list of runs: first rows on screen", PAINT_MS, median([one.shown for one in found]))
    times = [_all_rows(desk, server) for _ in range(rounds)]
    yield Figure(f"list of runs: all {ROWS} rows, loaded by cursor", "", f"{median(times):.0f} ms", None)


def _all_rows(desk: Desk, server: Server) -> float:
    context = desk.context(server.url)
    page = context.new_page()
    page.goto("/runs?label=kind:many")
    page.wait_for_selector(ROW)
    while page.locator(ROW).count() < ROWS:
        before = page.locator(ROW).count()
        page.get_by_role("button", name="Load older runs").click()
        page.locator(ROW).nth(before).wait_for(state="attached")
    took: float = page.evaluate("performance.now()")
    context.close()
    return took


def _limited(name: str, limit: float, value: float) -> Figure:
    return Figure(name, f"≤ {limit:.0f} ms", f"{value:.0f} ms", value <= limit)


def _show(found: list[Figure]) -> None:
    table = Table("figure", "limit", "here", "")
    for figure in found:
        mark = "" if figure.met is None else "[green]ok[/]" if figure.met else "[red]missed[/]"
        table.add_row(figure.name, figure.target, figure.value, mark)
    Console(width=None if sys.stdout.isatty() else 120).print(table)


if __name__ == "__main__":
    sys.exit(main())
