// What the worker in JavaScript does in these tests: the same as the step in Python.
import { appendFileSync } from "node:fs";

export default {
  effect: async (task, n) => {
    appendFileSync(process.env.PLAIT_TEST_LEDGER, `${n} ${task.key} node ${task.attempt}\n`);
    await new Promise((resolve) => setTimeout(resolve, 100));
    return n;
  },
};
