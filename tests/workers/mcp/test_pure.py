"""Which server a name means, what a result means, and what a configuration may say."""

import json
from pathlib import Path
from typing import Any

import pytest

from plait.kernel.errors import InvalidInput
from plait.kernel.task import TaskError
from plait.workers.mcp.lookup import Found, find
from plait.workers.mcp.output import error_text, output_of
from plait.workers.mcp.settings import HttpServer, StdioServer, read_file, read_servers

_OFFERED = {"crm": ["GET_USER", "LIST"], "shop": ["LIST", "crm_GET"], "shop_eu": ["ORDER"]}


@pytest.mark.parametrize(
    ("tool", "found"),
    [
        ("GET_USER", Found("crm", "GET_USER")),
        ("crm:LIST", Found("crm", "LIST")),
        ("shop_LIST", Found("shop", "LIST")),
        ("crm_GET", Found("shop", "crm_GET")),
        ("shop_eu_ORDER", Found("shop_eu", "ORDER")),
    ],
)
def test_a_tool_is_found_by_its_server_its_bare_name_or_both(tool: str, found: Found) -> None:
    assert find(tool, _OFFERED) == found


def test_a_name_on_several_servers_is_ambiguous_and_says_what_to_write() -> None:
    with pytest.raises(TaskError, match='Write "crm:LIST" or "shop:LIST"') as caught:
        find("LIST", _OFFERED)
    assert (caught.value.code, caught.value.retryable) == ("tool_ambiguous", False)


def test_an_unknown_name_is_not_found_and_names_the_nearest() -> None:
    with pytest.raises(TaskError, match='Did you mean "GET_USER"') as caught:
        find("GET_USERS", _OFFERED)
    assert (caught.value.code, caught.value.retryable) == ("tool_not_found", False)


@pytest.mark.parametrize("offered", [{}, {"plait": ["RUN_LIST"]}])
def test_without_servers_an_unknown_name_says_how_to_configure_them(offered: dict[str, list[str]]) -> None:
    with pytest.raises(TaskError, match="PLAIT_MCP") as caught:
        find("GET_USER", offered)
    assert caught.value.code == "tool_not_found"


@pytest.mark.parametrize(
    ("result", "output"),
    [
        ({"structuredContent": {"a": None}, "content": [{"type": "text", "text": "{}"}]}, {"a": None}),
        ({"content": [{"type": "text", "text": '{"a": [1]}'}]}, {"a": [1]}),
        ({"content": [{"type": "text", "text": "[1, 2]"}]}, [1, 2]),
        ({"content": [{"type": "text", "text": "12"}]}, [{"type": "text", "text": "12"}]),
        ({"content": [{"type": "text", "text": "plain"}]}, [{"type": "text", "text": "plain"}]),
        ({"content": [{"type": "text", "text": "{}"}] * 2}, [{"type": "text", "text": "{}"}] * 2),
        ({"content": [{"type": "image", "data": "x"}]}, [{"type": "image", "data": "x"}]),
        ({"content": []}, []),
    ],
)
def test_the_output_is_structured_content_then_json_in_one_text_then_the_content(
    result: dict[str, Any], output: Any
) -> None:
    assert output_of(result) == output


def test_an_error_of_a_tool_is_its_texts() -> None:
    assert error_text(
        {"content": [{"type": "text", "text": "no"}, {"type": "image"}, {"type": "text", "text": "stock"}]}
    ) == ("no stock")
    assert error_text({"content": []}) == "it says nothing more"


def test_servers_are_read_as_mcp_clients_write_them(tmp_path: Path) -> None:
    file = tmp_path / ".mcp.json"
    crm = {"command": "crm-mcp", "args": ["--fast"], "env": {"TOKEN": "x"}}
    file.write_text(json.dumps({"mcpServers": {"crm": crm, "web": {"type": "http", "url": "https://example.com/mcp"}}}))
    assert read_servers(read_file(file)).servers == {
        "crm": StdioServer("crm-mcp", ["--fast"], {"TOKEN": "x"}),
        "web": HttpServer("https://example.com/mcp"),
    }


def test_a_group_names_several_servers() -> None:
    given = {"crm": {"command": "a"}, "web": {"command": "b"}, "sales": {"servers": ["crm", "web"]}}
    found = read_servers(given)
    assert (sorted(found.servers), found.groups) == (["crm", "web"], {"sales": ["crm", "web"]})


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"plait": {"command": "x"}}, "the engine's own"),
        ({"two words": {"command": "x"}}, "names have letters"),
        ({"a": {"args": []}}, "missing required field `command`"),
        ({"a": {"command": "x", "argz": []}}, "unknown field `argz`"),
        ({"a": "crm-mcp"}, "neither an object nor a server"),
        ({"a": {"url": 1}}, "Expected `str`"),
        ({"a": {"servers": ["crm"]}}, "there is no server 'crm'"),
        ({"a": {"servers": "crm"}}, "Expected `array`"),
    ],
)
def test_a_configuration_that_can_not_be_is_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_servers(given)
    assert words in caught.value.text
    assert caught.value.code == "mcp.bad_settings"


def test_a_file_that_can_not_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="No such file"):
        read_file(tmp_path / "none.json")
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(InvalidInput, match="is not JSON"):
        read_file(tmp_path / "bad.json")
