/**
 * Builds the console: bundles `src` into the directory that is given (`static` by default).
 *
 * The result is the same on every machine, so a test builds it again and compares.
 */
import { build } from "esbuild";
import { copyFile, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const target = process.argv[2] ?? join(here, "static");

await mkdir(target, { recursive: true });
await build({
  absWorkingDir: here,
  entryPoints: { console: "src/main.tsx", style: "src/style.css" },
  outdir: target,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  jsx: "automatic",
  jsxImportSource: "preact",
  alias: { "tailrace-client": "../../openapi/typescript/src" },
  // Only Node 20 needs it; browsers have a WebSocket of their own.
  external: ["ws"],
  logLevel: "warning",
});
for (const name of ["index.html", "icon.svg"]) await copyFile(join(here, "src", name), join(target, name));
