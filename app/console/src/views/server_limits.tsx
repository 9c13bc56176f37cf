/** The limits of the server, as its administrator and every token may see them. */
import type { api } from "tailrace-client/index";
import { count } from "../format";
import { useLoaded } from "../hooks";
import { Pending } from "../messages";
import { send } from "../server";

/** The limits, for a token that may not see the rest. */
export function LimitsAlone() {
  const limits = useLoaded((signal) => send<api.Limits>("GET", "/v1/limits", { signal }), "limits");
  return (
    <>
      <Pending of={limits} what="the limits" />
      {limits.data && <Limits limits={limits.data} />}
    </>
  );
}

export function Limits({ limits }: { limits: api.Limits }) {
  return (
    <section>
      <details>
        <summary>
          <h2>Limits</h2>
        </summary>
        <dl class="limits mono small">
          {Object.entries(limits).map(([name, value]) =>
            typeof value === "number" ? (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{count(value)}</dd>
              </div>
            ) : null,
          )}
        </dl>
      </details>
    </section>
  );
}
