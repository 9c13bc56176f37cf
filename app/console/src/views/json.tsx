/**
 * A JSON text as a tree that opens and closes.
 *
 * Scalars stay as they were written, because a number of JavaScript cannot hold the digits of an id beyond 2^53.
 */
import { useState } from "preact/hooks";

export type Node =
  | { readonly kind: "scalar"; readonly text: string }
  | { readonly kind: "object"; readonly members: readonly (readonly [string, Node])[] }
  | { readonly kind: "array"; readonly members: readonly (readonly [string, Node])[] };

const MEMBERS_SHOWN = 200;
const DEPTH_MAX = 200;
const TOKEN = /\s*(?:([{}[\],:])|("(?:[^"\\]|\\.)*")|(-?\d[\d.eE+-]*|true|false|null))/y;

/** Returns the tree of a text, or undefined if the text is not JSON. */
export function parseJson(text: string): Node | undefined {
  const first = text.trimStart()[0];
  if (first !== "{" && first !== "[") return undefined;
  try {
    JSON.parse(text);
    return new Reader(text).node(0);
  } catch {
    return undefined;
  }
}

/** Reads a text that is known to be JSON. */
class Reader {
  readonly #token = new RegExp(TOKEN);

  constructor(private readonly text: string) {}

  node(depth: number): Node {
    if (depth > DEPTH_MAX) throw new RangeError("the JSON is nested too deeply");
    const token = this.next();
    if (token === "{") return { kind: "object", members: this.members("}", depth) };
    if (token === "[") return { kind: "array", members: this.members("]", depth) };
    return { kind: "scalar", text: token };
  }

  private members(end: string, depth: number): [string, Node][] {
    const members: [string, Node][] = [];
    if (this.peek() === end) {
      this.next();
      return members;
    }
    do {
      const name = end === "}" ? (JSON.parse(this.next()) as string) : String(members.length);
      if (end === "}") this.next();
      members.push([name, this.node(depth + 1)]);
    } while (this.next() === ",");
    return members;
  }

  private peek(): string {
    const at = this.#token.lastIndex;
    const token = this.next();
    this.#token.lastIndex = at;
    return token;
  }

  private next(): string {
    const found = this.#token.exec(this.text);
    if (found === null) throw new SyntaxError("not JSON");
    return found[1] ?? found[2] ?? found[3]!;
  }
}

export function JsonTree({ node, name, isOpen = false }: { node: Node; name?: string; isOpen?: boolean }) {
  const [shown, setShown] = useState(MEMBERS_SHOWN);
  const [opened, setOpened] = useState(isOpen);
  const label = name === undefined ? null : <span class="quiet">{name}: </span>;
  if (node.kind === "scalar") {
    return (
      <div>
        {label}
        <bdi class={kindOf(node.text)}>{node.text}</bdi>
      </div>
    );
  }
  const [open, close] = node.kind === "object" ? ["{", "}"] : ["[", "]"];
  return (
    <details open={opened} onToggle={(event) => setOpened(event.currentTarget.open)}>
      <summary>
        {label}
        {open} <span class="quiet">{node.members.length}</span> {close}
      </summary>
      {opened && (
        <div class="members">
          {node.members.slice(0, shown).map(([each, inside], index) => (
            <JsonTree key={index} node={inside} name={each} />
          ))}
          {node.members.length > shown && (
            <button type="button" onClick={() => setShown(shown + 10 * MEMBERS_SHOWN)}>
              Show more of {node.members.length}
            </button>
          )}
        </div>
      )}
    </details>
  );
}

function kindOf(text: string): string {
  return text.startsWith('"') ? "string" : /^[-\d]/.test(text) ? "numeric" : "word";
}
