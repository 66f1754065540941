"""A worker in twenty lines, with no other package than `redis`, for one stream. Docs: docs/guides/redis.md.

export REDIS_URL=redis://… PLAIT_SIGNING_KEYS="$(plait keys signing --json)"
python examples/redis_worker.py wf.tasks.gpu
"""

import hmac
import json
import os
import sys
import time
from contextlib import suppress

import redis

HANDLERS = {"double": lambda payload: 2 * payload[0], "shout": lambda payload: {"text": payload["text"].upper()}}
KEYS, db = json.loads(os.environ["PLAIT_SIGNING_KEYS"]), redis.Redis.from_url(os.environ["REDIS_URL"])
stream, signals = sys.argv[1], sys.argv[1].partition("wf.tasks.")[0] + "completion_signals"


def work(fields):
    token = (envelope := json.loads(fields[b"token"]))["token"]
    text = fields[b"token"].partition(b'"token":')[2][:-1]  # as it was signed
    mac = hmac.digest(bytes.fromhex(KEYS.get(envelope["signed_by"], os.urandom(32).hex())), text, "sha256").hex()
    signal = {"node_id": token["to_node"]} | {name: token[name] for name in ("run_id", "token_id", "attempt", "job_id")}
    if not hmac.compare_digest(mac, envelope["signature"]) or token["expires_at"] < time.time() * 1000:
        return signal | {"status": "failed", "error": {"type": "token.rejected", "message": "forged or expired"}}
    try:  # token["idempotency_key"] is the same on every attempt: pass it on to whatever you call
        return signal | {"status": "completed", "result_data": HANDLERS[token["handler"]](token["payload"])}
    except Exception as error:
        return signal | {"status": "failed", "error": {"type": "error", "message": repr(error)}}


while True:
    with suppress(redis.RedisError):  # flushed or away: begin again
        db.exists(stream) or db.xgroup_create(stream, "workers", id="0", mkstream=True)
        for _, [(id, fields)] in db.xreadgroup("workers", f"w-{os.getpid()}", {stream: ">"}, count=1, block=5_000):
            db.pipeline().rpush(signals, json.dumps(work(fields))).xack(stream, "workers", id).execute()
