// The part of `prelude.js` that prints and explains failures. It is parsed when a script needs it, which may have changed
// what is built in by then: all that it uses comes from the prelude.
(function plait_seldom(built_in) {
  "use strict";
  const { stringify, isArray, apply, slice, indexOf, toWellFormed, join, push, MemoryProblem, Text, print } = built_in;

  const LONGEST = 100_000; // characters of a line: more than all lines may have

  function plait_shown(value) {
    if (typeof value === "string") return value;
    if (typeof value === "object" && value !== null && !(value instanceof Error)) {
      try {
        return stringify(value) ?? Text(value);
      } catch {
        return isArray(value) ? "[array]" : "[object]";
      }
    }
    return Text(value);
  }

  function plait_log(values) {
    const parts = [];
    for (let index = 0; index < values.length; index++) apply(push, parts, [plait_shown(values[index])]);
    print(apply(toWellFormed, apply(slice, apply(join, parts, [" "]), [0, LONGEST]), []));
  }

  function plait_is(error, kind, words) {
    try {
      return error instanceof kind && apply(indexOf, Text(error.message), [words]) >= 0;
    } catch {
      return false;
    }
  }

  function plait_explained(refused, found) {
    if (refused !== undefined) return apply(toWellFormed, apply(slice, refused.message, [0, 4000]), []);
    if (plait_is(found, MemoryProblem, "out of memory")) return "M";
    if (found === null) return "N"; // a script may throw it, and so does QuickJS where there is no room for an error
    let text = "";
    let stack = "";
    try {
      if (found instanceof Error) {
        text = `${Text(found.name)}: ${Text(found.message)}`;
        stack = Text(found.stack);
      } else {
        text = `${plait_shown(found)} was thrown`;
      }
    } catch {
      text ||= "an error that can't be shown was thrown";
    }
    return apply(toWellFormed, `E${apply(slice, text, [0, 4000])}\n${apply(slice, stack, [0, 4000])}`, []);
  }

  return { log: plait_log, is: plait_is, explained: plait_explained };
})
