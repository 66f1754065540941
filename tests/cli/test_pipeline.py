"""`plait pipeline run`: steps in a file over data, and what it says when they don't work."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import Ran, run_plait

ORDERS = [{"sku": "tea", "n": 2}, {"sku": "mug", "n": 1}, {"sku": "tea", "n": 3}]


def _run(folder: Path, steps: Any, data: Any) -> Ran:
    (folder / "steps.json").write_text(json.dumps(steps))
    (folder / "data.json").write_text(json.dumps(data))
    return run_plait("pipeline", "run", str(folder / "steps.json"), "--data", f"@{folder / 'data.json'}")


def test_the_result_is_printed_as_json(tmp_path: Path) -> None:
    ran = _run(tmp_path, [{"step": "groupby", "by": "sku", "agg": "sum", "field": "n"}], ORDERS)
    assert ran.code == 0
    assert ran.json == [{"sku": "tea", "sum_n": 5}, {"sku": "mug", "sum_n": 1}]


@pytest.mark.parametrize(
    ("steps", "code", "told"),
    [
        ([{"step": "table_sort", "field": "n"}, {"step": "groupby", "by": "n", "agg": "sum", "field": "sku"}], 1,
         "pipeline failed at step 2 (groupby): sum of `sku`: row 0 has a text, not a number"),
        ([{"step": "table_sort", "fild": "n"}], 2, "step 1 (table_sort): unknown field `fild`"),
        ([{"step": "jq_transform", "query": ".["}], 2, "step 1 (jq_transform): query: line 1"),
        ([{"step": "http_request", "url": "http://127.0.0.1:1/"}], 1, "pipeline failed at step 1 (http_request)"),
    ],
)  # fmt: skip
def test_what_does_not_work_is_one_line_and_an_exit_code(tmp_path: Path, steps: Any, code: int, told: str) -> None:
    ran = _run(tmp_path, steps, ORDERS)
    assert (ran.code, ran.out) == (code, "")
    assert told in ran.err
    assert "Traceback" not in ran.err


def test_a_file_that_is_not_there_or_no_json_is_named(tmp_path: Path) -> None:
    ran = run_plait("pipeline", "run", str(tmp_path / "nothing.json"))
    assert ran.code == 2
    assert "nothing.json" in ran.err
    (tmp_path / "broken.json").write_text("[{]")
    ran = run_plait("pipeline", "run", str(tmp_path / "broken.json"))
    assert ran.code == 2
    assert "not JSON" in ran.err
