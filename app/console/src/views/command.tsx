/**
 * A prompt for Redis commands, with completion and history.
 *
 * Replies are shown as redis-cli prints them. Commands that delete streams ask first.
 */
import { useRef, useState } from "preact/hooks";
import type { TailraceError } from "tailrace-client/errors";
import { failure, send } from "../server";
import { Confirm } from "../dialogs";
import { Problem } from "../messages";
import { Act } from "../ui";
import { COMMANDS, completed } from "./command_words";
import { printed } from "./printed";
import { splitWords } from "./words";

interface Exchange {
  readonly line: string;
  readonly reply?: string;
  readonly error?: TailraceError;
  readonly ms: number;
}

const KEPT_MAX = 100;
const ASKS_FIRST = /^\s*(DEL|FLUSHALL|FLUSHDB)\b/i;

/** Kept while the tab is open, so that the history survives other views. */
const history: string[] = [];
let exchanges: readonly Exchange[] = [];

export function CommandView() {
  const [line, setLine] = useState("");
  const [shown, setShown] = useState(exchanges);
  const [place, setPlace] = useState(history.length);
  const [asked, setAsked] = useState<string | undefined>();
  const [isRunning, setRunning] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const run = async (text: string) => {
    setAsked(undefined);
    setRunning(true);
    if (history[history.length - 1] !== text) history.push(text);
    setPlace(history.length);
    setLine("");
    const sentAt = performance.now();
    const keep = (outcome: Pick<Exchange, "reply" | "error">) => {
      exchanges = [...exchanges, { line: text, ms: performance.now() - sentAt, ...outcome }].slice(-KEPT_MAX);
      setShown(exchanges);
    };
    try {
      const reply = await send<{ result?: unknown; error?: string }>("POST", "/v1/command", {
        body: splitWords(text),
      });
      keep({ reply: printed(reply.result) });
    } catch (error) {
      keep({ error: failure(error) });
    }
    setRunning(false);
    input.current?.focus();
  };
  const submit = () => {
    if (line.trim() === "" || isRunning) return;
    if (ASKS_FIRST.test(line)) setAsked(line);
    else void run(line);
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "ArrowUp" || event.key === "ArrowDown") {
      const next = Math.min(Math.max(place + (event.key === "ArrowUp" ? -1 : 1), 0), history.length);
      setPlace(next);
      setLine(history[next] ?? "");
      event.preventDefault();
    }
    if (event.key === "Tab" && !event.shiftKey) {
      const next = completed(line);
      if (next !== undefined) {
        setLine(next);
        event.preventDefault();
      }
    }
  };
  const word = line.trimStart().split(/\s+/).slice(0, 2).join(" ").toUpperCase();
  const hint =
    COMMANDS.find(([name]) => name === word) ?? COMMANDS.find(([name]) => name === word.split(" ")[0]);
  return (
    <>
      <div class="subject">
        <h1>Command</h1>
        <span class="quiet small">Tab completes, the arrow keys walk through the history</span>
      </div>
      <div class="panel prompt">
        <div class="exchanges mono" role="log" aria-label="Replies" tabIndex={0}>
          {shown.length === 0 && (
            <p class="quiet">
              Commands of Redis Streams, such as <code>XLEN race:france</code> or{" "}
              <code>XINFO STREAM race:france</code>.
            </p>
          )}
          {shown.map((exchange, index) => (
            <div key={index} class="exchange">
              <div>
                <span class="accent" aria-hidden="true">
                  &gt;{" "}
                </span>
                {exchange.line} <span class="quiet small">{exchange.ms.toFixed(0)} ms</span>
              </div>
              {exchange.reply !== undefined && <pre>{exchange.reply}</pre>}
              {exchange.error && <Problem error={exchange.error} />}
            </div>
          ))}
        </div>
        <form
          class="bar"
          onSubmit={(event) => {
            event.preventDefault();
            submit();
          }}
        >
          <span class="accent mono" aria-hidden="true">
            &gt;
          </span>
          <input
            ref={input}
            class="grow mono"
            aria-label="Command"
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            placeholder="XLEN race:france"
            value={line}
            onInput={(event) => setLine(event.currentTarget.value)}
            onKeyDown={onKey}
          />
          <Act kind="main" submits off={isRunning ? "A command is running." : undefined}>
            Run
          </Act>
        </form>
        <p class="quiet small mono hint" aria-live="polite">
          {hint ? `${hint[0]} ${hint[1]}` : "\u00a0"}
        </p>
      </div>
      {asked !== undefined && (
        <Confirm
          title="Run this command?"
          typed={asked.trim().split(/\s+/)[0]!.toUpperCase()}
          verb="Run it"
          onConfirm={() => void run(asked)}
          onClose={() => setAsked(undefined)}
        >
          <p>
            <code>{asked}</code> deletes streams with their entries and groups. This cannot be undone.
          </p>
        </Confirm>
      )}
    </>
  );
}
