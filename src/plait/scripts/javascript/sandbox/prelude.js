// Runs in every new context before the script. What it keeps in its own scope, a script can't replace; a script that
// changes what is built in changes its own result, and nothing else: the engine reads JSON text and trusts none of it.
(function plait_prelude(seldom) {
  "use strict";
  const { parse, stringify } = JSON;
  const { isArray } = Array;
  const { apply } = Reflect;
  const { slice, indexOf, toWellFormed } = String.prototype;
  const { join, push } = Array.prototype;
  const compile = eval;
  const MemoryProblem = InternalError;
  const TypeProblem = TypeError;
  const Text = String;
  const print = globalThis.__plait_print;
  delete globalThis.__plait_print;

  let ended = ""; // V: a value, E: thrown, N: no default export, B: bad output
  let found; // its text, or what was thrown
  let refused; // an object of ours: known by identity, since any look at a foreign one may run code of the script

  let helpers;

  // Most scripts need none of them, and to parse them takes longer than such a script runs
  function plait_helpers() {
    helpers ??= compile(seldom)({
      stringify, isArray, apply, slice, indexOf, toWellFormed, join, push, MemoryProblem, Text, print,
    });
    return helpers;
  }

  function plait_log(...values) {
    plait_helpers().log(values);
  }

  function plait_refuse(message) {
    refused = { message };
    throw refused;
  }

  function plait_checked(key, value) {
    switch (typeof value) {
      case "function":
      case "symbol":
      case "bigint": {
        const place = key === "" ? "The result" : `"${key}" in the result`;
        return plait_refuse(`${place} is a ${typeof value === "bigint" ? "BigInt" : typeof value}, which JSON can't hold`);
      }
      case "undefined":
        return null;
      default:
        return value;
    }
  }

  function plait_encoded(value, most) {
    let text;
    try {
      text = stringify(value, plait_checked);
    } catch (error) {
      if (error === refused || !plait_helpers().is(error, TypeProblem, "circular reference")) throw error;
      plait_refuse("The result holds itself, which JSON can't");
    }
    if (text.length > most) plait_refuse(`The result has more than ${most} bytes`);
    return text;
  }

  async function plait_call(input, truth, most) {
    try {
      const module = await import("<input>");
      const main = module.default;
      if (typeof main !== "function") {
        ended = "N";
        return;
      }
      const value = await main(parse(input));
      found = truth ? (value ? "true" : "false") : plait_encoded(value, most);
      ended = "V";
    } catch (error) {
      found = error;
      ended = refused !== undefined && error === refused ? "B" : "E";
    }
  }

  // Else a script could take functions of this file from the stack
  Object.defineProperty(Error, "prepareStackTrace", { value: undefined, writable: false, configurable: false });
  delete globalThis.performance;
  for (const name of ["debug", "error", "info", "log", "trace", "warn"]) {
    globalThis.console ??= {};
    globalThis.console[name] = plait_log;
  }

  return function plait_control(op, input, truth, most) {
    switch (op) {
      case "begin":
        plait_call(input, truth, most);
        return "";
      case "ended":
        return ended;
      case "value":
        return found;
      default:
        return plait_helpers().explained(ended === "B" ? refused : undefined, found);
    }
  };
})
