"""What comes out when someone logs."""

import asyncio
import io
import logging
import warnings
from pathlib import Path
from typing import Any

import pytest
import structlog
from structlog.contextvars import bound_contextvars

from plait import Engine
from plait.errors import InvalidInput
from plait.observe import logs
from plait.server.middleware import request_id
from tests.observe.conftest import Output
from tests.observe.flows import chatty
from tests.observe.test_masking import Unprintable

log = logging.getLogger("shop")


def test_a_record_is_one_line_of_json(output: Output):
    log.info("sold %d of %s", 2, "tea", extra={"customer": "ada"})
    assert {name: value for name, value in output.line.items() if name != "at"} == {
        "level": "info",
        "logger": "shop",
        "event": "sold 2 of tea",
        "customer": "ada",
    }
    assert output.line["at"].endswith("Z")


def test_structlog_comes_out_in_the_same_form(output: Output):
    structlog.get_logger("shop").warning("sold %s", "tea", count=2)
    assert {name: value for name, value in output.line.items() if name != "at"} == {
        "level": "warning",
        "logger": "shop",
        "event": "sold tea",
        "count": 2,
    }


def test_levels_below_the_chosen_one_are_left_out(output: Output):
    log.debug("no")
    structlog.get_logger("shop").debug("no")
    log.error("yes")
    assert output.line["event"] == "yes"


def test_an_unknown_level_is_refused(untouched_logging: None):
    with pytest.raises(InvalidInput, match=r"log level 'loud'.*observe\.bad_level"):
        logs.configure(level="loud")


@pytest.mark.parametrize("by", [logging.getLogger("shop"), structlog.get_logger("shop")])
def test_an_exception_is_fields(output: Output, by: Any):
    try:
        raise InvalidInput("shop.closed", "the shop is closed")
    except InvalidInput:
        by.exception("could not sell")
    found = output.line["exception"]
    assert (found["type"], found["code"]) == ("InvalidInput", "shop.closed")
    assert found["message"] == "the shop is closed [shop.closed]"
    assert found["trace"].startswith("Traceback")


@pytest.mark.parametrize("by", [logging.getLogger("shop"), structlog.get_logger("shop")])
def test_a_message_whose_arguments_do_not_fit_is_still_logged(output: Output, by: Any):
    by.info("sold %d", "tea")
    assert output.line["event"] == "sold %d"


def test_what_can_not_be_printed_harms_nobody(output: Output):
    log.info("sold %s", Unprintable())
    log.info("sold", extra={"what": Unprintable()})
    structlog.get_logger("shop").info("sold", what=Unprintable())
    assert [line["event"] for line in output.lines] == ["sold %s", "sold", "sold"]


def test_lone_surrogates_and_control_characters_stay_one_line(output: Output):
    log.info("a\ud800b\nc\x00d")
    assert output.line["event"] == "a\ud800b\nc\x00d"


def test_a_stream_that_is_gone_harms_nobody(untouched_logging: None):
    stream = io.StringIO()
    logs.configure("json", "info", stream)
    stream.close()
    log.info("into the void")


def test_secrets_are_masked(output: Output):
    log.info("calling with Authorization: Bearer abcdefgh", extra={"password": "x"})
    assert "abcdefgh" not in output.text
    assert output.line["password"] == "***"


def test_secrets_in_a_traceback_are_masked(output: Output):
    try:
        raise ValueError("Bearer abcdefgh was refused")
    except ValueError:
        log.exception("no")
    assert "abcdefgh" not in output.text


def test_uvicorns_access_lines_have_fields_and_no_signed_links(output: Output):
    logger = logging.getLogger("uvicorn.access")
    logger.addHandler(logging.StreamHandler(io.StringIO()))
    logs.configure("json", "info", output.stream)
    logger.setLevel(logging.INFO)
    logger.info('%s - "%s %s HTTP/%s" %d', "127.0.0.1:5", "POST", "/hooks/signed.part", "1.1", 200)
    line = output.line
    assert (line["method"], line["path"], line["status"]) == ("POST", "/hooks/***", 200)
    assert "signed.part" not in output.text
    assert logger.handlers == []


def test_uvicorns_colours_are_left_out(output: Output):
    logging.getLogger("uvicorn.error").error("up", extra={"color_message": "\x1b[36mup"})
    assert "color_message" not in output.line


def test_python_warnings_are_logged(output: Output):
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logs.configure("json", "info", output.stream)
        warnings.warn("old", DeprecationWarning, stacklevel=1)
        logging.captureWarnings(False)
    assert "DeprecationWarning: old" in output.line["event"]


def test_configured_twice_a_line_comes_once(output: Output):
    logs.configure("json", "info", output.stream)
    log.info("once")
    assert len(output.lines) == 1


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_lines_for_people(untouched_logging: None):
    stream = Terminal()
    logs.configure(stream=stream)
    try:
        raise ValueError("closed")
    except ValueError:
        log.exception("could not sell", extra={"password": "hunter2"})
    text = stream.getvalue()
    assert "could not sell" in text
    assert "ValueError: closed" in text
    assert "hunter2" not in text
    assert not text.startswith("{")


def test_a_file_gets_json(untouched_logging: None, tmp_path: Path):
    with (tmp_path / "log").open("w") as stream:
        logs.configure(stream=stream)
        log.info("hello")
    assert (tmp_path / "log").read_text().startswith("{")


async def test_what_a_request_logs_carries_its_id_and_no_other(output: Output):
    async def request(id: str) -> None:
        with bound_contextvars(request_id=id, route="GET /"):
            await asyncio.sleep(0)
            log.info("served")

    await asyncio.gather(request("a"), request("b"))
    log.info("outside")
    assert [(line.get("request_id"), line.get("route")) for line in output.lines] == [
        ("a", "GET /"),
        ("b", "GET /"),
        (None, None),
    ]


@pytest.mark.parametrize("given", [None, "", "x" * 65, "a b", "new\nline", "ü"])
def test_a_request_id_that_can_not_be_used_is_replaced(given: str | None):
    assert request_id(given) != given
    assert len(request_id(given)) == 16


def test_a_usable_request_id_is_kept():
    assert request_id("01J-abc.def_1:2") == "01J-abc.def_1:2"


async def test_what_a_step_logs_carries_its_run_node_and_attempt(output: Output):
    async with Engine("memory:", definitions=[chatty]) as engine:
        with bound_contextvars(request_id="the-request"):
            handle = await engine.start(chatty, "hi", id="r1", namespace="shop")
            await handle.result()
    said = [line for line in output.lines if line["logger"] == "shop"]
    assert [(line["event"], line["node"], line["run_id"], line["attempt"]) for line in said] == [
        ("async says hi", "one", "shop/r1", 1),
        ("thread says hi", "two", "shop/r1", 1),
        ("structlog says", "three", "shop/r1", 1),
    ]
    assert not any("request_id" in line for line in said)
