"""The example of a worker on Redis, which says each call of its model before it is made:
`python -m … REDIS KEYS CALLS`. In the last of so many calls it hangs, to be killed there."""

import importlib.util
import json
import sys
import threading
from pathlib import Path
from typing import Any

import redis

ROOT = Path(__file__).parents[2]


def example() -> Any:
    spec = importlib.util.spec_from_file_location("redis_agent", ROOT / "examples/redis_agent.py")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def main(url: str, keys: str, calls: int) -> None:
    worker, left = example(), [calls]
    ask = worker.ask_model

    def ask_model(job: Any, replies: list[Any]) -> Any:
        print("call turn", len(replies) + 1, flush=True)
        left[0] -= 1
        if not left[0]:
            threading.Event().wait()
        return ask(job, replies)

    worker.ask_model = ask_model
    worker.main(redis.Redis.from_url(url), json.loads(keys))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
