/**
 * The parts that all views are made of: errors, waiting, times, buttons with their reasons, dialogs.
 *
 * This module knows no stream and sends no request.
 */
import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { TailraceError } from "tailrace-client/errors";
import { type Scope, useRefusal } from "./access";
import type { Action, Loaded } from "./hooks";
import { useNow } from "./hooks";
import { type Name, shown } from "./names";
import { TIMEOUT_MS } from "./server";
import { ago, duration, msOf, useZone, written } from "./time";

type Children = { readonly children?: ComponentChildren };

/** An error: what is wrong, what to do, and a button that tries again. */
export function Problem({ error, retry }: { error: TailraceError; retry?: (() => void) | undefined }) {
  const hasPage = error.status > 0 && !error.code.startsWith("HTTP_");
  return (
    <div class="problem" role="alert">
      <div>
        <strong>{titleOf(error)}</strong>
        <p>{error.message.replace(`${error.code}: `, "")}</p>
        <p class="quiet small">
          {hasPage ? <a href={`/problems/${error.code.toLowerCase()}`}>{error.code}</a> : error.code}
          {error.requestId && ` · request ${error.requestId}`}
          {error.sideEffects === "unknown" && " · the request may have taken effect"}
        </p>
      </div>
      {retry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

function titleOf(error: TailraceError): string {
  if (error.code === "TIMEOUT") return "The server did not answer in time";
  if (error.code === "CONNECTION_LOST") return "No connection to the server";
  return String(error.problem["title"] ?? "The request failed");
}

/** What a view shows before its data: nothing for a moment, then the time, then the error. */
export function Pending<T>({ of: loaded, what }: { of: Loaded<T>; what: string }) {
  return (
    <>
      {loaded.error && <Problem error={loaded.error} retry={loaded.reload} />}
      {loaded.data === undefined && loaded.error === undefined && (
        <Waiting what={what} since={loaded.since ?? Date.now()} />
      )}
    </>
  );
}

export function Waiting({ what, since }: { what: string; since: number }) {
  const passed = useNow(500) - since;
  return (
    <p class="waiting" role="status">
      {passed < 400 ? "" : `Loading ${what}`}
      {passed < 2_000 ? "" : `: ${Math.floor(passed / 1000)} s of ${TIMEOUT_MS / 1000} s`}
    </p>
  );
}

/** What an action did, or why it failed. */
export function Outcome({ action }: { action: Action }) {
  return (
    <div aria-live="polite" class="outcome">
      {action.isRunning && <p class="quiet">Working</p>}
      {action.done && <p class="done">{action.done}</p>}
      {action.error && <Problem error={action.error} />}
    </div>
  );
}

/** A time in the chosen zone, with the relative time beside it. */
export function Time({ ms, isShort = false }: { ms: number; isShort?: boolean }) {
  const [zone] = useZone();
  const now = useNow(5_000);
  return (
    <time
      dateTime={new Date(ms).toISOString()}
      title={`${written(ms, "utc")} UTC · ${written(ms, "local")} local`}
    >
      {!isShort && <span class="nowrap">{written(ms, zone)} </span>}
      <span class={isShort ? "nowrap" : "quiet nowrap"}>{ago(ms, now)}</span>
    </time>
  );
}

/** The time of an id, or a dash. */
export function IdTime({ id, isShort }: { id: string | null | undefined; isShort?: boolean }) {
  const ms = msOf(id);
  return ms === undefined ? <span class="quiet">–</span> : <Time ms={ms} isShort={isShort ?? false} />;
}

export function NameText({ name }: { name: Name }) {
  return <bdi class="name">{shown(name)}</bdi>;
}

interface ActProps extends Children {
  readonly needs?: Scope | readonly Scope[];
  readonly on?: Name | undefined;
  readonly off?: string | undefined;
  readonly kind?: "main" | "danger" | "plain";
  readonly submits?: boolean;
  onClick?(): void;
}

/** A button. If the token may not do this, or if `off` says why not, the button is off and says the reason. */
export function Act({ needs, on, off, kind = "plain", submits = false, onClick, children }: ActProps) {
  const refusal = useRefusal();
  const id = useId();
  const why = (needs === undefined ? undefined : refusal(needs, on)) ?? off;
  return (
    <>
      <button
        type={submits ? "submit" : "button"}
        class={kind}
        aria-disabled={why !== undefined}
        aria-describedby={why === undefined ? undefined : id}
        title={why}
        onClick={(event) => {
          if (why !== undefined) event.preventDefault();
          else onClick?.();
        }}
      >
        {children}
      </button>
      {why !== undefined && (
        <span id={id} class="hidden">
          {why}
        </span>
      )}
    </>
  );
}

/** Why the actions of a view are off, in words; nothing if they are on. */
export function WhyOff({ needs, on }: { needs: Scope | readonly Scope[]; on?: Name | undefined }) {
  const why = useRefusal()(needs, on);
  return why === undefined ? null : <p class="why">{why}</p>;
}

/** A labelled input. */
export function Field({ label, hint, children }: Children & { label: string; hint?: string }) {
  return (
    <label class="field">
      <span>{label}</span>
      {children}
      {hint && <small class="quiet">{hint}</small>}
    </label>
  );
}

/** A modal dialog. Escape and a click on its ground close it. */
export function Dialog({ title, onClose, children }: Children & { title: string; onClose(): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && dialog.current?.close()}
    >
      <div class="dialog">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

interface ConfirmProps extends Children {
  readonly title: string;
  /** The text to type. */
  readonly typed: string;
  readonly verb: string;
  onConfirm(): void;
  onClose(): void;
}

/** A dialog for what cannot be undone: the reader types the name of what is changed. */
export function Confirm({ title, typed, verb, onConfirm, onClose, children }: ConfirmProps) {
  const [text, setText] = useState("");
  const off = text === typed ? undefined : `Type ${typed} first.`;
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (off === undefined) onConfirm();
        }}
      >
        {children}
        <Field label={`Type ${typed} to confirm`}>
          <input class="wide mono" value={text} onInput={(event) => setText(event.currentTarget.value)} />
        </Field>
        <div class="bar end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <Act kind="danger" submits off={off}>
            {verb}
          </Act>
        </div>
      </form>
    </Dialog>
  );
}

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

/** Returns a count with separators, such as `10 000`. */
export function count(value: number): string {
  return value.toLocaleString("en-US").replaceAll(",", "\u2009");
}

/** Returns a rate, such as `12.5/s`. */
export function rate(perSecond: number | undefined): string {
  if (perSecond === undefined) return "–";
  return `${perSecond === 0 ? "0" : perSecond < 10 ? perSecond.toFixed(1) : count(Math.round(perSecond))}/s`;
}

/** Returns a number of bytes, such as `1.5 MB`. */
export function bytes(value: number): string {
  if (value < 1_000) return `${value} B`;
  const unit = value < 1e6 ? "kB" : value < 1e9 ? "MB" : "GB";
  const scaled = value / { kB: 1e3, MB: 1e6, GB: 1e9 }[unit];
  return `${scaled < 10 ? scaled.toFixed(1) : Math.round(scaled)} ${unit}`;
}

/** Returns `1 entry` or `2 entries`. */
export function many(value: number, one: string, others = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : others}`;
}

export { duration };
