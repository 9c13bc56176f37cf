/** Access: what the token of the tab may do, and signing in with another one. */
import { useContext, useState } from "preact/hooks";
import type { TailraceError } from "tailrace-client/errors";
import { AccessContext, type Scope } from "../access";
import { hasToken, switchToken } from "../server";
import { Pending } from "../messages";
import { Field, Time } from "../ui";

const SCOPES: readonly (readonly [Scope, string])[] = [
  ["read", "Read entries, groups and pending entries; follow streams"],
  ["append", "Append entries, and create streams by appending"],
  ["consume", "Read in a group, acknowledge, return and claim"],
  ["admin", "Create and delete streams and groups; trim and rename; see the slow log and the audit log"],
];

export function AccessView() {
  const access = useContext(AccessContext)!;
  return (
    <>
      <div class="subject">
        <h1>Access</h1>
      </div>
      <Pending of={access} what="your rights" />
      {access.data && (
        <div class="panel">
          <p>
            {access.data.token === null ? (
              <>
                <strong>The server requires no token.</strong> Everybody who reaches it may do everything, so
                it listens on this machine only.
              </>
            ) : (
              <>
                This tab uses the token <strong>{access.data.token}</strong>, which{" "}
                {access.data.expires_at_ms === null ? (
                  "does not expire"
                ) : (
                  <>
                    expires <Time ms={access.data.expires_at_ms} />
                  </>
                )}
                .
              </>
            )}
          </p>
          <div class="scroll" role="region" aria-label="Scopes" tabIndex={0}>
            <table class="rows">
              <thead>
                <tr>
                  <th scope="col">Scope</th>
                  <th scope="col">Allowed</th>
                  <th scope="col">What it allows</th>
                </tr>
              </thead>
              <tbody>
                {SCOPES.map(([scope, what]) => (
                  <tr key={scope}>
                    <th scope="row" class="mono">
                      {scope}
                    </th>
                    <td>
                      {access.data!.scopes.includes(scope) ? (
                        <span class="yes">yes</span>
                      ) : (
                        <span class="quiet">no</span>
                      )}
                    </td>
                    <td>{what}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          <p>
            On streams whose key matches{" "}
            {access.data.key_patterns.map((pattern) => (
              <code key={pattern}>{pattern}</code>
            ))}
          </p>
        </div>
      )}
      {access.data?.token !== null && <TokenForm />}
    </>
  );
}

/** What the console shows when the server asks for a token. */
export function SignIn({ error }: { error: TailraceError | undefined }) {
  return (
    <section class="signin">
      <h1>Sign in</h1>
      <p class="lead">
        {hasToken()
          ? `The server does not accept the token of this tab. ${error?.message ?? ""}`
          : "This server requires a token."}
      </p>
      <TokenForm />
    </section>
  );
}

function TokenForm() {
  const [text, setText] = useState("");
  return (
    <form
      class="panel"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== "") switchToken(text.trim());
        setText("");
      }}
    >
      <Field
        label="Token"
        hint="Only this tab keeps it, until you close the tab. It is sent as a header, never in a URL; for the WebSocket it is exchanged for a ticket."
      >
        <input
          class="wide mono"
          type="password"
          autocomplete="off"
          placeholder="tlr_…"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </Field>
      <div class="bar">
        <button type="submit" class="main">
          Use this token
        </button>
        {hasToken() && (
          <button type="button" onClick={() => switchToken(undefined)}>
            Sign out
          </button>
        )}
      </div>
    </form>
  );
}
