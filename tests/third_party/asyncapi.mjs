// Parses the AsyncAPI document as users of AsyncAPI do, and prints what the parser finds: node asyncapi.mjs FILE PACKAGE.JSON
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const { Parser } = createRequire(process.argv[3])("@asyncapi/parser");
const { document, diagnostics } = await new Parser().parse(readFileSync(process.argv[2], "utf8"));
for (const found of diagnostics) console.log(found.code, found.path.join("/"));
console.log(document === undefined ? "invalid" : `valid ${document.version()}`);
for (const operation of document?.operations().all() ?? []) console.log(operation.id(), operation.messages().all().length > 0);
