"""An MCP server over stdio, written by hand: it starts in no time, and can misbehave as no library would.

python raw_server.py FILE        each call of a tool is a line in FILE
"""

import json
import os
import sys
from typing import Any

TOOLS = ["ECHO", "TWICE", "GARBAGE", "HANG", "EXIT", "NOT_A_RESULT", "ASK", "GROW"]
PAGE = 3


def send(message: dict[str, Any]) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def answer(id: Any, result: dict[str, Any]) -> None:
    send({"id": id, "result": result})


def text(value: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": json.dumps(value)}]}


def tools(cursor: str | None) -> dict[str, Any]:
    start = int(cursor or 0)
    page = [{"name": name, "inputSchema": {"type": "object"}} for name in TOOLS[start : start + PAGE]]
    more = {"nextCursor": str(start + PAGE)} if start + PAGE < len(TOOLS) else {}
    return {"tools": page, **more}


def call(id: Any, name: str, params: dict[str, Any]) -> None:
    match name:
        case "TWICE":
            answer(id, text({"answer": 1}))
            answer(id, text({"answer": 2}))
        case "GARBAGE":
            print("this is not JSON", flush=True)
            print("\x00\x01[1, 2", flush=True)
            answer(id, text({"after": "garbage"}))
        case "HANG":
            pass
        case "EXIT":
            os._exit(1)
        case "NOT_A_RESULT":
            answer(id, {"content": "no list"})
        case "ASK":
            send({"id": "ask-1", "method": "elicitation/create", "params": {"message": "?", "requestedSchema": {}}})
            refused = json.loads(sys.stdin.readline())
            answer(id, text({"refused": "error" in refused or refused["result"]["action"] != "accept"}))
        case "GROW":
            TOOLS.append("NEW")
            send({"method": "notifications/tools/list_changed"})
            answer(id, text({"grown": True}))
        case _:
            answer(id, text({"arguments": params.get("arguments"), "meta": params.get("_meta"), "pid": os.getpid()}))


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        id, params = message.get("id"), message.get("params") or {}
        match message.get("method"):
            case "initialize":
                capabilities = {"tools": {"listChanged": True}}
                info = {"name": "raw", "version": "1"}
                answer(id, {"protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": info})
            case "tools/list":
                answer(id, tools(params.get("cursor")))
            case "tools/call":
                with open(sys.argv[1], "a") as file:
                    print(params["name"], file=file)
                call(id, params["name"], params)
            case "notifications/cancelled":
                with open(sys.argv[1], "a") as file:
                    print("cancelled", file=file)
            case _ if id is not None:
                send({"id": id, "error": {"code": -32601, "message": "no such method"}})
            case _:
                pass


if __name__ == "__main__":
    main()
