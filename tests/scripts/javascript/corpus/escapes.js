// --- the names of a host: = []
export default () => ["require", "process", "module", "fetch", "setTimeout", "setInterval", "setImmediate", "std", "os",
  "bjson", "Deno", "Bun", "XMLHttpRequest", "WebSocket", "Worker", "importScripts", "scriptArgs", "print", "load",
  "navigator", "performance", "gc", "__plait_print", "window", "self", "global"].filter((name) => name in globalThis)
// --- a static import: syntax
import * as os from "os";
export default () => os
// --- a static import of a file: syntax
import secrets from "/etc/passwd";
export default () => secrets
// --- an import with attributes: syntax
import data from "/etc/hostname" with { type: "json" };
export default () => data
// --- an export from elsewhere: syntax
export * from "std";
export default () => 1
// --- a dynamic import: error
export default () => import("os")
// --- a dynamic import of a file: error
export default () => import("/etc/passwd")
// --- a dynamic import of an address: error
export default () => import("https://example.com/x.js")
// --- a dynamic import of data: error
export default () => import("data:text/javascript,export default 1")
// --- a dynamic import from a function made of text: error
export default () => new Function("return import('os')")()
// --- its own module: = true
export default async function me() { return (await import("<input>")).default === me; }
// --- the Function constructor sees globals only: = "undefined"
export default () => Function("return typeof plait_control")()
// --- functions of every kind made of text: = [1, 2, 3]
export default async () => [
  (() => {}).constructor("return 1")(), (function* () {}).constructor("yield 2")().next().value,
  await (async () => {}).constructor("return 3")()]
// --- eval sees no more than the script: = ["undefined", "undefined", "undefined"]
export default () => ["plait_control", "found", "print"].map((name) => (0, eval)(`typeof ${name}`))
// --- this is nothing: = true
export default function () { return this === undefined; }
// --- the caller is out of reach: error
export default function f() { return f.caller; }
// --- arguments.callee is out of reach: error
export default function () { return arguments.callee; }
// --- with is not allowed: syntax
export default () => { with ({}) { return 1; } }
// --- a global that is not declared: error
export default () => { undeclared = 1; }
// --- the prototype of objects: = {"a": 1}
export default () => { Object.prototype.polluted = "yes"; return { a: 1 }; }
// --- a toJSON for all: = "all"
export default () => { Object.prototype.toJSON = () => "all"; return { a: 1 }; }
// --- a JSON that lies: = {"a": 1}
export default () => { JSON.stringify = () => "lie"; JSON.parse = null; return { a: 1 }; }
// --- array methods that lie: = [1, 2]
export default () => { Array.prototype.push = Array.prototype.join = () => "lie"; console.log("x"); return [1, 2]; }
// --- a Promise that lies: = 1
export default async () => { Promise.prototype.then = () => "lie"; globalThis.Promise = null; return 1; }
// --- a promise whose constructor lies: = 2
export default () => { const p = Promise.resolve(2); Object.defineProperty(p, "constructor", { get() { return Promise; } }); return p; }
// --- an instanceof that lies: error
export default () => { Object.defineProperty(Error, Symbol.hasInstance, { value: () => true }); throw 1; }
// --- an instanceof that claims to be bad output: error bad_output
export default () => { throw { message: "fake", __proto__: Function.prototype }; }
// --- an error that can not be shown: error
export default () => { throw { toString() { throw 1; }, toJSON() { throw 2; } }; }
// --- an error that is a revoked proxy: error
export default () => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); throw proxy; }
// --- nothing is thrown: error
export default () => { throw undefined; }
// --- a symbol is thrown: error
export default () => { throw Symbol("x"); }
// --- an error with a name that is a symbol: error
export default () => { const e = new Error("x"); e.name = Symbol("x"); throw e; }
// --- an error with a lone surrogate: error
export default () => { throw new Error("\ud800"); }
// --- an error with a stack of its own: error
export default () => { const e = new Error("x"); e.stack = { toString() { throw 1; } }; throw e; }
// --- a hook for stack traces: error
export default () => { Error.prepareStackTrace = (_, sites) => sites; }
// --- a hook for stack traces, defined: error
export default () => { Object.defineProperty(Error, "prepareStackTrace", { value: (_, sites) => sites }); }
// --- a result that is a function: bad_output
export default () => () => 1
// --- a result that is a class: bad_output
export default () => class A {}
// --- a function in a result: bad_output
export default () => ({ a: [{ b: Math.max }] })
// --- a symbol in a result: bad_output
export default () => [Symbol.iterator]
// --- a bad value under a long name: bad_output
export default () => ({ ["k".repeat(20_000) + "\ud800"]: 1n })
// --- a BigInt in a result: bad_output
export default () => ({ n: 10n })
// --- a BigInt that says how it is JSON: = "10"
export default () => { BigInt.prototype.toJSON = function () { return `${this}`; }; return 10n; }
// --- a result that holds itself: bad_output
export default () => { const a = { b: {} }; a.b.c = a; return a; }
// --- an array that holds itself: bad_output
export default () => { const a = []; a.push(a); return a; }
// --- a getter in a result: = {"x": 1}
export default () => ({ get x() { return 1; } })
// --- a getter in a result that throws: error
export default () => ({ get x() { throw new Error("no"); } })
// --- a proxy as a result: = {"a": "A"}
export default () => new Proxy({ a: 1 }, { get: (t, k) => (k === "toJSON" ? undefined : String(k).toUpperCase()) })
// --- a revoked proxy as a result: error
export default () => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy; }
// --- a key that is __proto__: = {"__proto__": {"a": 1}}
export default () => JSON.parse('{"__proto__": {"a": 1}}')
// --- keys that are symbols: = {}
export default () => ({ [Symbol("x")]: 1 })
// --- boxed values: = [1, "x", true]
export default () => [new Number(1), new String("x"), new Boolean(true)]
// --- values that JSON has no form for: = [null, null, null, {}, {}, {}]
export default () => [undefined, NaN, -Infinity, new Map([[1, 2]]), new Set([1]), /x/]
// --- a NUL in a result: bad_output
export default () => "a\0b"
// --- a lone surrogate in a result: bad_output
export default () => "\udc00"
// --- a lone surrogate in a key: bad_output
export default () => ({ "\ud800": 1 })
// --- a lone surrogate in the console: = 1
export default () => { console.log("\ud800"); return 1; }
// --- a NUL in the console: = 1
export default () => { console.log("a\0b"); return 1; }
// --- a console that is replaced: = 1
console = { log() {} };
export default () => { console.log("x"); return 1; }
// --- a console that gets what can not be shown: = 1
export default () => { console.log(Object.create(null), Symbol("x"), 1n, () => 1, new Proxy({}, {})); return 1; }
// --- a WeakRef: = 1
export default () => new WeakRef({ a: 1 }).deref()?.a ?? 1
// --- a species that lies: = [1]
export default () => { class A extends Array { static get [Symbol.species]() { return function () { return []; }; } } return [...A.from([1])]; }
// --- an array that grows while it is sorted: = true
export default () => { const a = [3, 2, 1]; a.sort((x, y) => { a.length = 0; return x - y; }); return true; }
// --- an array that shrinks while it is filled: error
export default () => { const a = new Array(10); a.fill({ valueOf() { a.length = 0; return 1; } }); return a.concat(Symbol()).join(); }
// --- a buffer that is detached while it is filled: = true
export default () => { const b = new ArrayBuffer(64); const a = new Uint8Array(b); try { a.fill({ valueOf() { b.transfer(); return 1; } }); } catch {} return true; }
// --- a typed array over a buffer that shrank: = true
export default () => { const b = new ArrayBuffer(64, { maxByteLength: 64 }); const a = new Uint8Array(b, 32); b.resize(8); return a.length === 0; }
// --- a DataView out of bounds: error
export default () => new DataView(new ArrayBuffer(8)).getFloat64(4)
// --- a string of bad code: error
export default () => eval("{{{{")
// --- a label that jumps out: syntax
export default () => { break out; }
// --- a script that ends in the middle: syntax
export default () => {
// --- a script of another language: syntax
def main(input): return 1
// --- nothing at all: no_default

// --- a default export that is no function: no_default
export default { main() {} }
// --- a default export that throws when it is read: error
export default (() => { throw new Error("early"); })()
// --- a default export that is async and throws: error
export default async () => { throw new Error("late"); }
// --- a promise that is rejected with nothing: error
export default () => Promise.reject()
// --- a rejection that nobody handles: = 1
Promise.reject(new Error("nobody"));
export default () => 1
