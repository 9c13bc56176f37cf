/**
 * What a view says while it waits and after it fails: waiting, errors with a retry, outcomes of actions.
 *
 * This module knows no stream and sends no request.
 */
import type { TailraceError } from "tailrace-client/errors";
import { type Action, type Loaded, useNow } from "./hooks";
import { TIMEOUT_MS } from "./server";

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
