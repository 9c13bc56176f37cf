// Clients of Server-Sent Events that others wrote, each told only the address.
// Run by test_sse_clients.py: `node sse.mjs <client> <address> <a file beside node_modules>`.
// Each takes every message for JSON, as their documentation shows.

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [client, address, beside, followed] = process.argv.slice(2);
const require = createRequire(beside);
const seen = [];
const see = ({ type, event = type, lastEventId, id = lastEventId, data }) => seen.push([event, id, JSON.parse(data)]);

const clients = {
  async eventsource() {
    const { EventSource } = await import(pathToFileURL(require.resolve("eventsource")));
    const source = new EventSource(address);
    await new Promise((resolve, reject) => {
      for (const name of ["message", "entries", "gap"]) source.addEventListener(name, see);
      source.addEventListener("end", (event) => resolve(see(event)));
      source.addEventListener("error", ({ message }) => reject(new Error(message)));
    });
    source.close();
  },

  // The function of the page, with a timer that is due at once.
  async page() {
    const { EventSource } = await import(pathToFileURL(require.resolve("eventsource")));
    const timer = (called, _, ...given) => setImmediate(() => called(...given));
    const follow = new Function("EventSource", "setTimeout", `${followed}; return follow`)(EventSource, timer);
    await new Promise((resolve) => {
      const listen = (tail) => {
        tail.addEventListener("entries", see);
        tail.addEventListener("end", () => resolve(tail.close()));
      };
      follow(address, listen, "0-0");
    });
  },

  async "fetch-event-source"() {
    globalThis.window = globalThis; // It is made for browsers.
    globalThis.document = { addEventListener() {}, removeEventListener() {} };
    const { fetchEventSource } = require("@microsoft/fetch-event-source");
    const onerror = (error) => {
      throw error;
    };
    await fetchEventSource(address, { onmessage: see, onerror, openWhenHidden: true });
  },
};

await clients[client]();
console.log(JSON.stringify(seen));
