"""A worker with no other package than `redis`, for one stream. Docs: docs/guides/redis.md.

export REDIS_URL=redis://… PLAIT_SIGNING_KEYS="$(plait keys signing --json)"
python examples/redis_worker.py wf.tasks.gpu
"""

import hashlib
import hmac
import json
import os
import sys
import time

import redis

HANDLERS = {"double": lambda payload: 2 * payload[0], "shout": lambda payload: {"text": payload["text"].upper()}}
KEYS = json.loads(os.environ["PLAIT_SIGNING_KEYS"])
db = redis.Redis.from_url(os.environ["REDIS_URL"], decode_responses=True)
stream, me = sys.argv[1], f"worker-{os.getpid()}"


def opened(token, signature, signed_by):
    text = json.dumps(token, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    mac = hmac.new(bytes.fromhex(KEYS[signed_by]), text.encode(), hashlib.sha256).hexdigest()
    if not hmac.compare_digest(mac, signature) or token["expires_at"] < time.time() * 1000:
        raise ValueError("forged or expired")
    return token


def work(fields):
    signal, kind = {"run_id": fields["run_id"], "node_id": fields["node_id"]}, "token.rejected"
    try:
        token, kind = opened(**json.loads(fields["token"])), "error"
        signal |= {name: token[name] for name in ("token_id", "attempt", "job_id")}
        # token["idempotency_key"] is the same on every attempt: pass it on to whatever you call
        signal |= {"status": "completed", "result_data": HANDLERS[token["handler"]](token["payload"])}
    except Exception as error:
        signal |= {"status": "failed", "error": {"type": kind, "message": repr(error)}}
    db.rpush(stream.partition("wf.tasks.")[0] + "completion_signals", json.dumps(signal))


while True:
    try:
        for _, entries in db.xreadgroup("workers", me, {stream: ">"}, count=1, block=5_000) or ():
            for id, fields in entries:
                work(fields)
                db.xack(stream, "workers", id)
    except redis.ResponseError:  # no such group: the first time, and after Redis was flushed
        db.xgroup_create(stream, "workers", id="0", mkstream=True)
    except redis.ConnectionError:
        time.sleep(0.2)
