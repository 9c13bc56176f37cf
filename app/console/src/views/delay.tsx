/**
 * A delay in a form: a number of seconds, or nothing.
 *
 * This module owns how the text becomes milliseconds, and what is wrong with it. The forms own what the delay does.
 */
import { TextField } from "../ui";

interface DelayFieldProps {
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  onInput(text: string): void;
}

export function DelayField({ onInput, ...rest }: DelayFieldProps) {
  return <TextField {...rest} class="short" inputMode="decimal" onInput={(text) => onInput(text.trim())} />;
}

/** Returns the member of a request that has the delay; none without a delay. */
export function delayMember(text: string): { readonly delay_ms?: number } {
  return text === "" ? {} : { delay_ms: Math.round(Number(text) * 1000) };
}

/** Returns why the text is no delay; undefined if it is one. */
export function whyNoDelay(text: string): string | undefined {
  return Number(text) >= 0 ? undefined : "The delay must be a number of seconds.";
}
