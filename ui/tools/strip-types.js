/**
 * Removes the types from TypeScript: bundled to one file that the sandbox for JavaScript evaluates, without node.
 *
 * Imports that nobody uses stay, so that the sandbox can refuse them; new syntax stays, since QuickJS knows it.
 */

import { transform } from "sucrase";

const OPTIONS = { transforms: ["typescript"], keepUnusedImports: true, disableESTransforms: true };

// `String` makes one piece of it: Python gets no string that QuickJS keeps in pieces.
globalThis.stripTypes = (source) => String(transform(source, OPTIONS).code);
