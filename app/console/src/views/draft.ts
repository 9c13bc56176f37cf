/** An entry on its way from its own view to the form that appends it again. The tab keeps at most one. */
import type { Entry } from "../streams";

let draft: Entry | undefined;

export function keepDraft(entry: Entry): void {
  draft = entry;
}

/** Returns the entry, once. */
export function takeDraft(): Entry | undefined {
  const taken = draft;
  draft = undefined;
  return taken;
}
