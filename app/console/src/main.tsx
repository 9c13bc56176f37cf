/** The console: starts the shell in the document. */
import { render } from "preact";
import { followLinks } from "./router";
import { Shell } from "./shell";

followLinks();
render(<Shell />, document.getElementById("console")!);
