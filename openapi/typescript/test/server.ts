/**
 * The server under test, from the environment variables of the test run, and unique stream names.
 */
import { randomUUID } from "node:crypto";

import { Tailrace, type TailraceOptions } from "tailrace-client";

export const url = wanted("TAILRACE_URL");

/** A client with all rights and short retries. */
export function client(options: Partial<TailraceOptions> = {}): Tailrace {
  return new Tailrace({
    url,
    token: wanted("TAILRACE_TOKEN"),
    retry: { firstDelayMs: 5, maxDelayMs: 200 },
    ...options,
  });
}

/** A name that no other test uses. */
export function fresh(what: string): string {
  return `${what}:${randomUUID()}`;
}

/** Stops the server with SIGTERM and starts it again at the same address with the same data. */
export async function restart(): Promise<void> {
  const answer = await fetch(wanted("STEWARD_URL"), { method: "POST" });
  if (!answer.ok) throw new Error(`the server did not come back: ${await answer.text()}`);
}

/** Returns the first `count` items of an iteration, and ends the iteration. */
export async function take<T>(items: AsyncGenerator<T, void, undefined>, count: number): Promise<T[]> {
  const taken: T[] = [];
  for await (const item of items) {
    taken.push(item);
    if (taken.length === count) break;
  }
  return taken;
}

/** Returns the error that the promise rejects with. */
export async function failure<T extends Error = Error>(promise: Promise<unknown>): Promise<T> {
  try {
    await promise;
  } catch (error) {
    return error as T;
  }
  throw new Error("there was no error");
}

/** A signal that a test awaits. */
export function occasion(): { readonly came: Promise<void>; readonly comes: () => void } {
  let comes = (): void => undefined;
  const came = new Promise<void>((resolve) => (comes = resolve));
  return { came, comes: () => comes() };
}

export function wanted(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: run these tests with pytest tests/sdk`);
  return value;
}
