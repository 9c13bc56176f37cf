/**
 * One value, as text, as a JSON tree, as bytes in hexadecimal, or as base64.
 *
 * A large value is cut until the reader asks for all of it. Numbers of JSON keep their digits: they are never
 * converted.
 */
import { useMemo, useState } from "preact/hooks";
import { base64OfBytes } from "../names";
import { Copy } from "../clipboard";
import { bytes as size } from "../format";
import { JsonTree, parseJson } from "./json";

type Form = "text" | "json" | "hex" | "base64";

const SHOWN_MAX = 4_000;
const HEX_MAX = 1_024;

export function Value({ text, isBase64, label }: { text: string; isBase64: boolean; label: string }) {
  const bytes = useMemo(() => bytesOf(text, isBase64), [text, isBase64]);
  const tree = useMemo(
    () => (isBase64 || text.length > 2_000_000 ? undefined : parseJson(text)),
    [text, isBase64],
  );
  const isStructured = tree !== undefined && tree.kind !== "scalar";
  const [form, setForm] = useState<Form>(isBase64 ? "hex" : isStructured ? "json" : "text");
  const [isAll, setAll] = useState(false);
  const forms: readonly Form[] = [
    ...(isBase64 ? [] : (["text"] as const)),
    ...(isStructured ? (["json"] as const) : []),
    ...(["hex", "base64"] as const),
  ];
  const whole = () =>
    form === "text" || form === "json" ? text : form === "hex" ? hexOf(bytes) : base64OfBytes(bytes);
  const isCut =
    form !== "json" && (form === "hex" ? bytes.length > HEX_MAX : text.length > SHOWN_MAX) && !isAll;
  const seen = () => {
    if (form === "hex") return hexOf(isCut ? bytes.subarray(0, HEX_MAX) : bytes);
    return isCut ? whole().slice(0, SHOWN_MAX) : whole();
  };
  return (
    <div class="value">
      <div class="label">
        <h3 class="mono">
          <bdi>{label}</bdi>
        </h3>
        <span class="quiet small">{size(bytes.length)}</span>
      </div>
      <div class="bar small tools">
        <span class="choice" role="group" aria-label={`How to show ${label}`}>
          {forms.map((each) => (
            <button key={each} type="button" aria-pressed={each === form} onClick={() => setForm(each)}>
              {each === "json" ? "JSON" : each}
            </button>
          ))}
        </span>
        <Copy text={whole}>Copy</Copy>
      </div>
      <div class="content">
        {form === "json" && tree ? (
          <div class="json mono" tabIndex={0} role="region" aria-label={`${label} as a JSON tree`}>
            <JsonTree node={tree} isOpen />
          </div>
        ) : text === "" ? (
          <p class="quiet">(empty)</p>
        ) : (
          <pre tabIndex={0}>{seen()}</pre>
        )}
        {isCut && (
          <button type="button" onClick={() => setAll(true)}>
            Show all {size(bytes.length)}
          </button>
        )}
      </div>
    </div>
  );
}

function bytesOf(text: string, isBase64: boolean): Uint8Array {
  if (!isBase64) return new TextEncoder().encode(text);
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

/** Returns rows of 16 bytes: offset, hexadecimal, characters. */
function hexOf(bytes: Uint8Array): string {
  const rows: string[] = [];
  for (let at = 0; at < bytes.length; at += 16) {
    const row = Array.from(bytes.subarray(at, at + 16));
    const hex = row.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const characters = row
      .map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : "."))
      .join("");
    rows.push(`${at.toString(16).padStart(8, "0")}  ${hex.padEnd(47)}  ${characters}`);
  }
  return rows.join("\n");
}
