/**
 * Takes a text out of the page: to the clipboard, or as a download.
 */
import { useState } from "preact/hooks";
import type { Children } from "./ui";

/** A button that copies a text. */
export function Copy({ text, children }: Children & { text: () => string }) {
  const [isDone, setDone] = useState(false);
  const copy = async () => {
    await copied(text());
    setDone(true);
    setTimeout(() => setDone(false), 1_500);
  };
  return (
    <button type="button" class="plain" onClick={() => void copy()}>
      {isDone ? "Copied" : children}
    </button>
  );
}

/** Pages without TLS have no clipboard; there the old command copies a selection. */
async function copied(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text).catch(() => undefined);
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

/** Offers a text as a download. */
export function download(name: string, parts: BlobPart[], type: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(parts, { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
