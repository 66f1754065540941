// A worker in plain Node, without packages: PLAIT_URL=… PLAIT_KEY=… node examples/worker.js gpu
const [queue = "gpu", name = `node-${process.pid}`] = process.argv.slice(2);
const url = process.env.PLAIT_URL ?? "http://127.0.0.1:8080";
const [LEASE, SLOTS] = [Number(process.env.PLAIT_LEASE_MS ?? 10_000), 4];
// What this worker can do, by the name of the step. `task.key` is the same on every attempt: pass it on.
const handlers = {
  double: async (task, n) => 2 * n,
  ...(process.env.PLAIT_HANDLERS ? await import(process.env.PLAIT_HANDLERS).then((found) => found.default) : {}),
};

async function call(verb, body) {
  const headers = { "content-type": "application/json" };
  if (process.env.PLAIT_KEY) headers.authorization = `Bearer ${process.env.PLAIT_KEY}`;
  const answer = await fetch(`${url}/api/v1/tasks/${verb}`, { method: "POST", headers, body: JSON.stringify(body) });
  const found = await answer.json();
  if (answer.ok) return found;
  throw Object.assign(new Error(`${found.code}: ${found.title}`), { status: answer.status });
}

// The server may be away for a while; what it refuses it will refuse again.
async function insist(verb, body) {
  while (verb !== "claim" || !stopping) {
    try {
      return await call(verb, body);
    } catch (error) {
      if (error.status >= 400 && error.status < 500 && error.status !== 429) throw error;
      console.error(`${verb}: ${error.cause?.message ?? error.message}; will try again`);
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
  return { tasks: [] };
}

const textOf = (error) => String(error?.message ?? error).slice(0, 4_000) || "failed";
const failure = (error, retryable) => ({ error: { message: textOf(error) }, retryable });
async function perform(task) {
  const often = Math.min(task.lease_ms, task.heartbeat_ms ?? Infinity) / 3;
  const beat = setInterval(() => call("heartbeat", { id: task.id }).catch(() => {}), often);
  const send = (verb, body) => insist(verb, { id: task.id, ...body });
  const result = await new Promise((done) => done(handlers[task.handler](task, ...[task.input.arguments].flat())))
    .then((output) => ["complete", JSON.parse(JSON.stringify({ output }))])
    .catch((error) => ["fail", failure(error, true)]);
  const mend = (no) => ([400, 413, 422].includes(no.status) ? send("fail", failure(no, false)) : Promise.reject(no));
  await send(...result).catch(mend).catch((refusal) => console.error(`${task.label}: ${refusal.message}`));
  clearInterval(beat);
}

let [busy, stopping] = [new Set(), false];
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => (stopping = true));
console.log(`${name} serves ${queue}`);
while (!stopping) {
  const wanted = { worker: name, queues: [queue], handlers: Object.keys(handlers), limit: SLOTS - busy.size };
  const { tasks } = await insist("claim", { ...wanted, lease_ms: LEASE, wait_ms: 2_000, protocol: 1 });
  for (const task of tasks) {
    const work = perform(task).finally(() => busy.delete(work));
    busy.add(work);
  }
  if (busy.size >= SLOTS) await Promise.race(busy);
}
await Promise.all(busy);
