"""A worker on Redis with no other package than `redis`:

REDIS_URL=redis://… PLAIT_SIGNING_KEYS="$(plait keys signing --json)" python examples/redis_worker.py wf.tasks.gpu
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
[stream], me = sys.argv[1:], f"worker-{os.getpid()}"
prefix = stream.partition("wf.tasks.")[0]  # `tenant:<namespace>:`, unless that is `default`
db = redis.Redis.from_url(os.environ.get("REDIS_URL", "redis://127.0.0.1:6379"), decode_responses=True, protocol=2)


def must_be_genuine(token, signature, signed_by):
    text = json.dumps(token, sort_keys=True, separators=(",", ":"), ensure_ascii=False)  # it comes in canonical form
    mac = hmac.new(bytes.fromhex(KEYS[signed_by]), text.encode(), hashlib.sha256).hexdigest()
    if not hmac.compare_digest(mac, signature) or token["expires_at"] < time.time() * 1000:
        raise ValueError("bad signature, or expired")


def report(id, fields):
    token, result = {}, {"status": "completed", "run_id": fields["run_id"], "node_id": fields["node_id"]}
    try:
        envelope = json.loads(fields["token"])
        must_be_genuine(**envelope)
        token = envelope["token"]  # `token["idempotency_key"]` is the same on every attempt: pass it on
        result["result_data"] = HANDLERS[token["handler"]](token["payload"])
    except Exception as error:
        refused = "" if token else "token.rejected"
        result |= {"status": "failed", "error": {"type": refused or type(error).__name__, "message": repr(error)}}
    result |= {name: token[name] for name in ("token_id", "attempt", "job_id") if name in token}
    db.rpush(f"{prefix}completion_signals", json.dumps(result))
    db.xack(stream, "workers", id)


while True:
    try:
        for _, entries in db.xreadgroup("workers", me, {stream: ">"}, count=1, block=5_000) or ():
            for id, fields in entries:
                report(id, fields)
    except redis.ResponseError:  # no such group: the first time, and after Redis was flushed
        db.xgroup_create(stream, "workers", id="0", mkstream=True)
    except redis.ConnectionError:
        time.sleep(0.2)
