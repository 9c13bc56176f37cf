/**
 * Bundles the package for browsers into one file, `dist/tailrace-client.min.js`, and prints its size.
 *
 * The page that imports it needs no bundler. `npm run bundle` runs this.
 */
import { build } from "esbuild";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const bundle = join(here, "dist/tailrace-client.min.js");

await build({
  absWorkingDir: here,
  entryPoints: ["src/index.ts"],
  outfile: bundle,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  // Only Node 20 needs it; browsers have a WebSocket of their own.
  external: ["ws"],
  logLevel: "warning",
});
const bytes = await readFile(bundle);
const kilobytes = (length) => `${(length / 1000).toFixed(1)} kB`;
console.log(`${kilobytes(bytes.length)}, ${kilobytes(gzipSync(bytes, { level: 9 }).length)} gzipped`);
