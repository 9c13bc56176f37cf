/** The greeting of an empty server: three steps to the first stream, and a button that takes them. */
import { useAction } from "../hooks";
import { go, href } from "../router";
import { appendRace, RACE } from "../race";
import { Copy } from "../clipboard";
import { Outcome } from "../messages";
import { Act, WhyOff } from "../ui";

export function Greeting() {
  const action = useAction();
  const steps: readonly (readonly [string, string])[] = [
    ["Append an entry", curl("entries", `{"fields": {"rider": "Castilla", "speed": "30.2"}}`)],
    ["Read it", `curl ${location.origin}/v1/streams/${RACE}/entries`],
    ["Share the work in a group", curl("groups/judges", `{"after": "0"}`, "-X PUT ")],
  ];
  return (
    <section class="greeting">
      <h1>This server has no streams yet</h1>
      <p class="lead">
        A stream is a log of entries: sets of named fields, in the order in which they arrived. The first
        append creates it. Three steps show how it works:
      </p>
      <ol>
        {steps.map(([name, command]) => (
          <li key={name}>
            <strong>{name}</strong>
            <div class="codeline">
              <code>{command}</code>
              <Copy text={() => command}>Copy</Copy>
            </div>
          </li>
        ))}
      </ol>
      <div class="bar">
        <Act
          kind="main"
          needs={["append", "admin"]}
          on={RACE}
          onClick={() =>
            void action.run(async () => {
              await appendRace();
              go(href("stream", { key: RACE }));
              return undefined;
            })
          }
        >
          Append the race example
        </Act>
        <span class="quiet">12 entries and a group in the stream {RACE}</span>
      </div>
      <WhyOff needs={["append", "admin"]} on={RACE} />
      <Outcome action={action} />
      <p class="quiet">
        <a href={href("produce", { key: RACE })}>Append entries of your own</a>, or read the{" "}
        <a href="/docs">documentation of the API</a>.
      </p>
    </section>
  );
}

function curl(path: string, body: string, method = ""): string {
  return `curl ${method}${location.origin}/v1/streams/${RACE}/${path} --json '${body}'`;
}
