"""Failures of tool calls, as errors with a code."""

from __future__ import annotations

from plait.kernel.task import TaskError


def unavailable(server: str, why: str) -> TaskError:
    return TaskError(f'MCP server "{server}" is not available: {why}', retryable=True, code="tool_unavailable")


def timed_out(tool: str, seconds: float) -> TaskError:
    text = f'Tool "{tool}" did not answer within {seconds * 1000:.0f} ms; the call was cancelled'
    return TaskError(text, retryable=True, code="tool_timeout")


def failed(tool: str, text: str) -> TaskError:
    return TaskError(f'Tool "{tool}" returned an error: {text}', retryable=True, code="tool_error")


def not_found(tool: str, near: str) -> TaskError:
    hint = f'. Did you mean "{near}"?' if near else ""
    return TaskError(f'No MCP server has a tool "{tool}"{hint}', retryable=False, code="tool_not_found")


def no_servers(tool: str) -> TaskError:
    text = f'No MCP server has a tool "{tool}": none is configured. Name a file of servers with --mcp or PLAIT_MCP.'
    return TaskError(text, retryable=False, code="tool_not_found")


def ambiguous(tool: str, servers: list[str]) -> TaskError:
    named = " or ".join(f'"{server}:{tool}"' for server in servers)
    text = f'Tool "{tool}" is on several servers. Write {named}.'
    return TaskError(text, retryable=False, code="tool_ambiguous")


def not_an_object(tool: str) -> TaskError:
    text = f'The arguments of tool "{tool}" are not an object'
    return TaskError(text, retryable=False, code="input_not_object")
