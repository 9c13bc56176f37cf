/** Tokens: the header, tickets for the WebSocket, and tokens without the necessary rights. */
import assert from "node:assert/strict";
import { test } from "node:test";

import type { TailraceError } from "tailrace-client";

import { client, failure, fresh, take, wanted } from "./server.js";

test("a token that is not known is refused over HTTP, Server-Sent Events and WebSocket, in one attempt", async () => {
  let requests = 0;
  const counted: typeof fetch = (input, init) => {
    requests++;
    return fetch(input, init);
  };
  const stranger = client({ token: "nobody's", fetch: counted }).stream("jobs");
  for (const attempt of [
    () => stranger.append({ a: "1" }),
    () => stranger.tail().next(),
    () => stranger.subscribe().next(),
  ]) {
    const { code, status, sideEffects } = await failure<TailraceError>(attempt());
    assert.deepEqual([code, status, sideEffects], ["UNAUTHENTICATED", 401, "none"]);
  }
  assert.equal(requests, 3);
});

test("a token that may only read reads over all three, and may not append over any", async (context) => {
  const stream = client().stream(fresh("read-only"));
  await stream.append({ a: "1" });
  const reader = client({ token: wanted("TAILRACE_READER_TOKEN") });
  context.after(() => reader.close());
  const theirs = reader.stream(stream.key);
  for (const entries of [theirs.read(), theirs.tail({ after: "0" }), theirs.subscribe({ after: "0" })]) {
    assert.deepEqual(
      (await take(entries, 1)).map((entry) => entry.fields),
      [{ a: "1" }],
    );
  }
  const append = { op: "append", key: stream.key, fields: { a: "2" } } as const;
  for (const attempt of [() => theirs.append({ a: "2" }), () => reader.socket.request(append)]) {
    assert.equal((await failure<TailraceError>(attempt())).status, 403);
  }
  assert.equal(await stream.length(), 1);
});

test("a token never stands in an address", async (context) => {
  const token = wanted("TAILRACE_TOKEN");
  const addresses: string[] = [];
  const watched: typeof fetch = (input, init) => {
    addresses.push(input instanceof Request ? input.url : String(input));
    return fetch(input, init);
  };
  const { WebSocket } = await import("ws");
  class Watched extends WebSocket {
    constructor(address: string, protocols: string[]) {
      addresses.push(address, ...protocols);
      super(address, protocols);
    }
  }
  const tailrace = client({ fetch: watched, webSocket: Watched as never });
  context.after(() => tailrace.close());
  const stream = tailrace.stream(fresh("addresses"));
  await stream.append({ a: "1" });
  await take(stream.subscribe({ after: "0" }), 1);
  assert.ok(addresses.some((address) => address.startsWith("tailrace.ticket.")));
  assert.ok(addresses.every((address) => !address.includes(token)));
});
