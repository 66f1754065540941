import { defineConfig } from "vite";

// One script without imports, where the sandbox for JavaScript reads it from.
export default defineConfig({
  publicDir: false,
  build: {
    outDir: "../src/plait/scripts/javascript/static",
    emptyOutDir: true,
    target: "es2022",
    lib: {
      entry: "tools/strip-types.js",
      formats: ["iife"],
      name: "plaitStripTypes",
      fileName: () => "strip-types.js",
    },
  },
});
