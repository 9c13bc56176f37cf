// What is generated, and where to. `make sdk-typescript` runs it; a test runs it into another directory
// (TAILRACE_GENERATED) and compares.
import { defineConfig } from "@hey-api/openapi-ts";

export default defineConfig({
  input: "../openapi.sdk.json",
  output: {
    path: process.env["TAILRACE_GENERATED"] ?? "src/generated",
    importFileExtension: ".js",
  },
  plugins: ["@hey-api/client-fetch", "@hey-api/typescript", "@hey-api/sdk"],
});
