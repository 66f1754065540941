import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const server = process.env.PLAIT_SERVER ?? "http://127.0.0.1:8080";

// The build goes where the server serves it from. No inline script: the content security policy forbids it.
export default defineConfig({
  plugins: [react()],
  build: {
    outDir: "../src/plait/server/static",
    emptyOutDir: true,
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    target: "es2022",
    // Browsers that know light-dark(), so that the colours stay readable in the built file.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
  },
  server: {
    // The host stays the page's own: the server compares it with the origin.
    proxy: { "/api": { target: server, changeOrigin: false }, "/hooks": { target: server, changeOrigin: false } },
  },
  test: {
    environment: "jsdom",
    isolate: false, // one document for the files of a worker: making one costs a second
    include: ["src/**/*.test.{ts,tsx}", "tools/*.test.js"],
    testTimeout: 60_000, // finds what hangs; a loaded machine may be ten times as slow
  },
});
