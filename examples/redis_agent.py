"""A worker that carries agents, with no other package than `redis`. It may be killed at any time: whoever goes on
begins behind the last reply that it kept. Docs: docs/guides/redis.md.

export REDIS_URL=redis://… PLAIT_SIGNING_KEYS="$(plait keys signing --json)"
python examples/redis_agent.py
"""

import hmac
import json
import os
import time
from contextlib import suppress

import redis

STREAM, GROUP, NAME = "wf.tasks.agent", "workers", f"w-{os.getpid()}"


def ask_model(job, replies):
    """Put your model here. It is asked `job["prompt"]` on `job["payload"]`, after `replies`; this one thinks twice."""
    turn = len(replies) + 1
    return {"text": f"turn {turn}: {job['prompt']}", "usage": {"input": 100, "output": 10}}, turn == 3


def is_genuine(raw, envelope, keys):
    text = raw.partition(b'"token":')[2][:-1]  # as it was signed
    mac = hmac.digest(bytes.fromhex(keys.get(envelope["signed_by"], os.urandom(32).hex())), text, "sha256").hex()
    return hmac.compare_digest(mac, envelope["signature"]) and envelope["token"]["expires_at"] > time.time() * 1000


def signal(job, **more):
    return {name: job[name] for name in ("run_id", "node_id", "token_id", "attempt", "job_id")} | more


def keep(db, job, reply, turn):
    """Returns when the reply is on disk; False if the model must not be asked again."""
    entry = {"entry": "replied", "turn": turn, "at": int(time.time() * 1000), "ms": 0, **reply}
    journal = {"index": len(job["journal"]), "entry": entry, "says": f"turn {turn}"}
    db.rpush("completion_signals", json.dumps(signal(job, status="working", journal=journal)))
    answer = db.blpop(f"agent:kept:{job['job_id']}", 30)
    if answer is None:  # Redis was flushed, or no engine is there: this job is offered again
        raise redis.TimeoutError
    job["journal"].append(entry)
    return json.loads(answer[1]).get("granted", False)


def work(db, id, job):
    replies = [entry for entry in job["journal"] if entry.get("entry") == "replied"]
    while len(replies) < job["agent_config"]["max_turns"]:
        db.xclaim(STREAM, GROUP, NAME, 0, [id], justid=True)  # still there
        reply, is_last = ask_model(job, replies)
        replies.append(reply)
        granted = keep(db, job, reply, len(replies))
        if is_last:
            return signal(job, status="completed", result_data={"text": reply["text"]})
        if not granted:
            break
    return signal(job, status="failed", error={"type": "stopped", "message": "no more turns", "retryable": False})


def main(db, keys):
    while True:
        with suppress(redis.RedisError):  # flushed or away: begin again
            db.exists(STREAM) or db.xgroup_create(STREAM, GROUP, id="0", mkstream=True)
            for _, [(id, fields)] in db.xreadgroup(GROUP, NAME, {STREAM: ">"}, count=1, block=5_000):
                envelope = json.loads(raw := fields[b"token"])
                if is_genuine(raw, envelope, keys):
                    result = work(db, id, envelope["token"])
                else:
                    error = {"type": "token.rejected", "message": "forged or expired"}
                    result = signal(envelope["token"], status="failed", error=error)
                db.pipeline().rpush("completion_signals", json.dumps(result)).xack(STREAM, GROUP, id).execute()


if __name__ == "__main__":
    main(redis.Redis.from_url(os.environ["REDIS_URL"]), json.loads(os.environ["PLAIT_SIGNING_KEYS"]))
