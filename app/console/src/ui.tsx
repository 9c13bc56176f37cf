/**
 * The small parts that all views are made of: times, names, labelled fields, buttons with their reasons.
 *
 * This module knows no stream and sends no request.
 */
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { type Scope, useRefusal } from "./access";
import { useNow } from "./hooks";
import { type Name, shown } from "./names";
import { ago, msOf, useZone, written } from "./time";

export type Children = { readonly children?: ComponentChildren };

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

/** A labelled control. */
export function Field({ label, hint, children }: Children & { label: string; hint?: string }) {
  return (
    <label class="field">
      <span>{label}</span>
      {children}
      {hint && <small class="quiet">{hint}</small>}
    </label>
  );
}

interface TextFieldProps {
  readonly label: string;
  readonly hint?: string;
  /** Its width (`tiny`, `short`, `wide`), and `mono` for ids and keys. */
  readonly class?: string;
  readonly value: string;
  readonly placeholder?: string;
  readonly inputMode?: "text" | "numeric" | "decimal";
  readonly isOff?: boolean;
  onInput(text: string): void;
}

/** A labelled line of text. */
export function TextField({ label, hint, isOff, onInput, ...rest }: TextFieldProps) {
  return (
    <Field label={label} {...(hint === undefined ? {} : { hint })}>
      <input {...rest} disabled={isOff ?? false} onInput={(event) => onInput(event.currentTarget.value)} />
    </Field>
  );
}
