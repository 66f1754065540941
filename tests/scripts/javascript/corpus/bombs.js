// --- an endless loop: limit
export default () => { for (;;); }
// --- an endless loop while the module loads: limit
while (true) {}
export default () => 1
// --- an endless loop in a generator: limit
export default () => { const all = function* () { for (;;) yield 1; }; for (const one of all()); }
// --- an endless loop in finally: limit
export default () => { for (;;) { try { continue; } finally { continue; } } }
// --- an endless loop that catches everything: limit
export default () => { for (;;) { try { (function deep() { deep(); })(); } catch {} } }
// --- promises that go on for ever: limit
export default async () => { for (;;) await null; }
// --- promises that go on for ever while the module loads: limit
for (;;) await null;
export default () => 1
// --- microtasks that start microtasks: limit
export default () => new Promise(() => { const again = () => queueMicrotask(again); again(); })
// --- thens that make thens: limit
export default () => new Promise(() => { const again = () => Promise.resolve().then(again); again(); })
// --- a thenable that resolves to thenables: limit
const endless = { then(resolve) { resolve({ then: endless.then }); } };
export default () => endless
// --- a for await without end: limit
export default async () => { for await (const one of (async function* () { for (;;) yield 1; })()); }
// --- a pattern that backtracks: limit
export default () => /^(a+)+$/.test("a".repeat(40) + "!")
// --- a pattern that backtracks over alternatives: limit
export default () => /^(a|a?)+$/.test("a".repeat(40) + "!")
// --- a pattern that backtracks in replace: limit
export default () => ("x".repeat(60) + "y").replace(/(x+x+)+z/g, "")
// --- a pattern with back references: limit
export default () => /^(.*)*\1(.*)*\2$/s.test("ab".repeat(40) + "!")
// --- a pattern with a lookbehind: = false
export default () => /(?<=(a+)+)$b/.test("a".repeat(50))
// --- a split without end: limit error
export default () => "x".repeat(1 << 28).split("")
// --- arrays that are kept: limit
export default () => { const kept = []; for (;;) kept.push(new Array(1000).fill(kept.length)); }
// --- strings that double: limit error
export default () => { let text = "x"; for (;;) text += text; }
// --- a string of a gigabyte: limit error
export default () => "x".repeat((1 << 30) - 1).length
// --- padding to a gigabyte: limit error
export default () => "".padStart((1 << 30) - 1, "ab").length
// --- an array buffer of eight gigabytes: limit error
export default () => new ArrayBuffer(8 * 2 ** 30).byteLength
// --- an array buffer that may grow: limit error
export default () => { const buffer = new ArrayBuffer(8, { maxByteLength: 2 ** 40 }); buffer.resize(2 ** 39); }
// --- a shared array buffer of eight gigabytes: limit error
export default () => new SharedArrayBuffer(8 * 2 ** 30).byteLength
// --- typed arrays that are kept: limit error
export default () => { const kept = []; for (;;) kept.push(new Float64Array(1 << 16).fill(1)); }
// --- a sparse array that is filled: limit error
export default () => new Array(2 ** 32 - 1).fill(0)
// --- a join of a sparse array: limit error
export default () => new Array(2 ** 32 - 1).join("ab")
// --- a flat of arrays within arrays: limit error
export default () => { let a = [1]; for (let i = 0; i < 60; i++) a = [a, a]; return a.flat(Infinity).length; }
// --- a spread of too many arguments: limit error
export default () => Math.max(...new Array(1e8).fill(1))
// --- an apply of a huge array: limit error
export default () => Math.max.apply(null, { length: 2 ** 31 })
// --- a map that grows: limit
export default () => { const map = new Map(); for (let i = 0; ; i++) map.set({ i }, i); }
// --- closures that are kept: limit
export default () => { const kept = []; for (;;) { const big = new Array(500); kept.push(() => big); } }
// --- promises that are kept: limit
export default async () => { const kept = []; for (;;) kept.push(new Promise(() => {})); }
// --- a memory error that is caught over and over: limit
export default () => { const kept = []; for (;;) { try { for (;;) kept.push(new Array(1000).fill(1)); } catch {} } }
// --- a BigInt that grows: limit error
export default () => { let n = 3n; for (;;) n *= n; }
// --- a BigInt shift: limit error
export default () => 1n << (1n << 40n)
// --- a BigInt as decimal text: limit error
export default () => (1n << 8_000_000n).toString().length
// --- a recursion without end: error
export default function deep() { return deep() + 1; }
// --- a recursion through a getter: error
export default () => ({ get x() { return this.x; } }).x
// --- a recursion through a proxy: error
export default () => { const p = new Proxy({}, { get: (t, k) => p[k] }); return p.x; }
// --- a recursion through toString: error
export default () => { const o = { toString() { return `${o}`; } }; return `${o}`; }
// --- a recursion through a sort: error
export default () => { const sort = () => [3, 2, 1].sort(sort); return sort(); }
// --- a recursion through Reflect.construct: error
export default () => { class A { constructor() { Reflect.construct(A, []); } } new A(); }
// --- deep brackets in a pattern: error limit
export default () => new RegExp("(".repeat(100_000) + ")".repeat(100_000)).test("")
// --- deep brackets in eval: error limit
export default () => eval("(".repeat(100_000) + "1" + ")".repeat(100_000))
// --- deep JSON is parsed: error bad_output limit
export default () => JSON.parse("[".repeat(200_000) + "]".repeat(200_000))
// --- deep JSON is returned: error bad_output
export default () => { let a = []; for (let i = 0; i < 100_000; i++) a = [a]; return a; }
// --- JSON nested deeper than a value may be: bad_output
export default () => { let a = []; for (let i = 0; i < 2000; i++) a = [a]; return a; }
// --- a huge result: bad_output
export default () => "x".repeat(11 * 1024 * 1024)
// --- a huge result of many parts: bad_output limit
export default () => new Array(3_000_000).fill("xx")
// --- a result that grows when it is escaped: bad_output limit
export default () => "\u0001".repeat(3 * 1024 * 1024)
// --- a result in characters of many bytes: bad_output
export default () => "€".repeat(4 * 1024 * 1024)
// --- a result that doubles at each level: bad_output limit
export default () => { let a = ["x"]; for (let i = 0; i < 40; i++) a = [a, a]; return a; }
// --- a toJSON that loops: limit
export default () => ({ toJSON() { for (;;); } })
// --- a toJSON that returns itself for ever: error limit bad_output
export default () => { const f = () => ({ toJSON: f, a: { toJSON: f } }); return { a: f() }; }
// --- a getter in the result that loops: limit
export default () => ({ get x() { for (;;); } })
// --- a proxy as the result that has endless keys: limit error bad_output
export default () => new Proxy({}, { ownKeys() { for (;;); } })
// --- a proxy of an array with a huge length: limit bad_output error
export default () => new Proxy([], { get: (t, k) => (k === "length" ? 2 ** 53 - 1 : 1) })
// --- a console that is flooded: limit
export default () => { for (;;) console.log("x".repeat(1000)); }
// --- a console that gets one huge line: = 1
export default () => { console.log("x".repeat(20_000_000)); return 1; }
// --- a console that gets an endless getter: limit
export default () => console.log({ get x() { for (;;); } })
// --- an error whose message is huge: error
export default () => { throw new Error("x".repeat(10_000_000)); }
// --- an error whose message is a getter that loops: limit
export default () => { const e = new Error(); Object.defineProperty(e, "message", { get() { for (;;); } }); throw e; }
// --- a wait for another thread: error
export default () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
// --- an asynchronous wait for another thread: error never_settled
export default () => Atomics.waitAsync(new Int32Array(new SharedArrayBuffer(4)), 0, 0).value
// --- a promise that nobody settles: never_settled
export default () => new Promise(() => {})
// --- a thenable that never calls back: never_settled
export default () => ({ then() {} })
// --- a module that never finishes loading: never_settled
await new Promise(() => {});
export default () => 1
// --- finalizers that never come: never_settled
export default () => new Promise((done) => new FinalizationRegistry(done).register({}, 1))
// --- a sort with a lying comparison: = 100
export default () => Array.from({ length: 100 }, (_, i) => i).sort(() => 1).length
// --- a date that is no date: = null
export default () => new Date(NaN)
