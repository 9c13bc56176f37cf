/**
 * Data of the server in a view: loaded, loaded again, and followed.
 *
 * This module owns when requests are sent: one at a time for each use, none while the tab is hidden, and the next
 * one only after the last one has ended.
 */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { TailraceError } from "tailrace-client/errors";
import { failure, onToken } from "./server";

export interface Loaded<T> {
  readonly data: T | undefined;
  readonly error: TailraceError | undefined;
  /** The time when the current request was sent, while there is one. */
  readonly since: number | undefined;
  reload(): void;
}

interface State<T> {
  readonly data?: T | undefined;
  readonly error?: TailraceError | undefined;
  readonly since?: number | undefined;
}

/**
 * Loads data when the view appears and when `subject` changes, and again each `everyMs` if it is given. After a
 * failure the last data stays, beside the error.
 */
export function useLoaded<T>(
  load: (signal: AbortSignal) => Promise<T>,
  subject: string,
  everyMs?: number,
): Loaded<T> {
  const [state, setState] = useState<State<T>>({ since: Date.now() });
  const [turn, setTurn] = useState(0);
  const current = useRef(load);
  current.current = load;
  const reload = useCallback(() => setTurn((before) => before + 1), []);
  useEffect(() => onToken(reload), [reload]);
  const last = useRef(subject);
  useEffect(() => {
    const leaving = new AbortController();
    let timer = 0;
    if (last.current !== subject) setState({ since: Date.now() });
    else setState((before) => ({ ...before, since: Date.now() }));
    last.current = subject;
    const again = () => {
      if (everyMs !== undefined && !leaving.signal.aborted) timer = window.setTimeout(step, everyMs);
    };
    const step = async () => {
      if (document.hidden) return again();
      try {
        const data = await current.current(leaving.signal);
        if (!leaving.signal.aborted) setState({ data });
      } catch (error) {
        if (!leaving.signal.aborted) setState((before) => ({ data: before.data, error: failure(error) }));
      }
      again();
    };
    void step();
    return () => {
      leaving.abort();
      clearTimeout(timer);
    };
  }, [subject, turn, everyMs]);
  return { data: state.data, error: state.error, since: state.since, reload };
}

export interface Action {
  readonly isRunning: boolean;
  readonly error: TailraceError | undefined;
  /** What the last run did, in words. */
  readonly done: string | undefined;
  run(work: () => Promise<string | undefined>): Promise<void>;
  clear(): void;
}

/** Runs one piece of work at a time, and keeps what it did or why it failed. */
export function useAction(): Action {
  const [state, setState] = useState<{
    isRunning: boolean;
    error?: TailraceError;
    done?: string | undefined;
  }>({
    isRunning: false,
  });
  const run = async (work: () => Promise<string | undefined>) => {
    setState({ isRunning: true });
    try {
      setState({ isRunning: false, done: await work() });
    } catch (error) {
      setState({ isRunning: false, error: failure(error) });
    }
  };
  const clear = () => setState({ isRunning: false });
  return { isRunning: state.isRunning, error: state.error, done: state.done, run, clear };
}

/** Returns the time, and updates it. */
export function useNow(everyMs = 1_000): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
