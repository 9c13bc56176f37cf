/**
 * The server itself: version, storage, commits, memory, connections, and their course while the view is open.
 *
 * The figures are those of `/metrics`, which the scope `read` may see. `server_state.tsx` owns what needs more.
 */
import type { ComponentChildren } from "preact";
import type { api } from "tailrace-client/index";
import { useLoaded } from "../hooks";
import { Line } from "../plots";
import { rateNow, ratesOf, sample, samplesOf } from "../samples";
import { send } from "../server";
import { bytes, count, rate } from "../format";
import { Pending } from "../messages";
import { duration } from "../time";
import { Time } from "../ui";
import { Details, useServerState } from "./server_state";
import { type Metrics, quantile, readMetrics } from "./metrics";

/** The figures take more of the server's time than the readiness, so they are read less often. */
const METRICS_EVERY_MS = 5_000;
const READY_EVERY_MS = 3_000;

export function ServerView() {
  const metrics = useLoaded(
    async (signal) => {
      const read = readMetrics(await send<string>("GET", "/metrics", { signal, parseAs: "text" }));
      sample("server appended", read.value("tailrace_entries_appended_total"));
      sample("server requests", read.value("tailrace_requests_total"));
      sample("server cpu", read.value("process_cpu_seconds_total"));
      sample("server memory", read.value("process_resident_memory_bytes") / 1e6);
      return read;
    },
    "metrics",
    METRICS_EVERY_MS,
  );
  const details = useServerState();
  const ready = useLoaded(
    (signal) => send<{ status: string }>("GET", "/readyz", { signal }),
    "ready",
    READY_EVERY_MS,
  );
  return (
    <>
      <div class="subject">
        <h1>Server</h1>
        {ready.data && !ready.error && (
          <span>
            <span class="dot on" aria-hidden="true" /> ready
          </span>
        )}
      </div>
      {ready.error && <Pending of={ready} what="the readiness" />}
      <Pending of={metrics} what="the figures" />
      {metrics.data && <Figures metrics={metrics.data} state={details.state.data} />}
      <Details {...details} />
    </>
  );
}

function Figures({ metrics, state }: { metrics: Metrics; state: api.ServerState | undefined }) {
  const value = (name: string) => metrics.value(name);
  const has = (name: string) => metrics.has(name);
  const isStored = has("tailrace_commits_total");
  const isGateway = has("tailrace_engine_node_up");
  const recent = state?.storage?.commit_latency;
  const commit = (exact: number | null | undefined, part: number) => {
    if (typeof exact === "number") return milliseconds(exact);
    const bound = quantile(metrics, "tailrace_commit_duration_seconds", part);
    return bound === undefined ? "–" : `at most ${duration(bound * 1000)}`;
  };
  const groups: readonly (readonly [string, readonly (readonly [string, ComponentChildren])[]])[] = [
    [
      "Process",
      [
        ["Version", metrics.label("tailrace_build_info", "version") ?? "unknown"],
        ["Python", metrics.label("tailrace_build_info", "python") ?? "unknown"],
        ["Started", <Time ms={value("process_start_time_seconds") * 1000} isShort />],
        ["Memory", bytes(value("process_resident_memory_bytes"))],
        ...(state?.memory?.limit_bytes ? ([["Memory limit", bytes(state.memory.limit_bytes)]] as const) : []),
        ["CPU", `${((rateNow(samplesOf("server cpu")) ?? 0) * 100).toFixed(0)} % of a core`],
      ],
    ],
    [
      "Store",
      [
        ["Kind", isGateway ? "Redis or Valkey" : isStored ? "embedded, on disk" : "embedded, in memory only"],
        ...(state?.durability ? ([["Durability", state.durability]] as const) : []),
        ...(isGateway
          ? ([
              ["Nodes", count(metrics.each("tailrace_engine_node_up").length)],
              ["Nodes up", count(value("tailrace_engine_node_up"))],
            ] as const)
          : []),
        ...(isStored
          ? ([
              ["Data", bytes(value("tailrace_data_bytes"))],
              ["Free disk", bytes(value("tailrace_disk_free_bytes"))],
              ["Journal", bytes(value("tailrace_journal_bytes"))],
              ["Commits", count(value("tailrace_commits_total"))],
              ["Commit, median", commit(recent?.p50_ms, 0.5)],
              ["Commit, 99 %", commit(recent?.p99_ms, 0.99)],
              ["Commits behind", count(value("tailrace_commits_behind"))],
            ] as const)
          : []),
      ],
    ],
    [
      "Contents",
      isGateway
        ? [["Streams", "kept by the nodes, which do not report totals"]]
        : [
            ["Streams", count(value("tailrace_streams"))],
            ["Entries", count(value("tailrace_entries"))],
            ["Groups", count(value("tailrace_groups"))],
            ["Pending entries", count(value("tailrace_pending_entries"))],
            [
              "Block cache",
              `${bytes(value("tailrace_cache_bytes"))} of ${bytes(value("tailrace_cache_max_bytes"))}`,
            ],
          ],
    ],
    [
      "Clients",
      [
        ["Connections", count(value("tailrace_connections"))],
        ["WebSockets", count(value("tailrace_websockets"))],
        ["Event streams", count(value("tailrace_event_streams"))],
        ["Waiting readers", count(value("tailrace_waiting_readers"))],
        ["Requests", rate(rateNow(samplesOf("server requests")))],
      ],
    ],
  ];
  return (
    <>
      <div class="cards">
        {groups.map(([title, rows]) => (
          <section class="panel" key={title}>
            <h2>{title}</h2>
            <dl class="rows-list">
              {rows.map(([name, shown]) => (
                <div key={name}>
                  <dt>{name}</dt>
                  <dd>{shown}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      {isGateway && <Nodes metrics={metrics} />}
      <div class="plots">
        <Line title="Appended" unit="entries per second" points={ratesOf(samplesOf("server appended"))} />
        <Line title="Requests" unit="per second" points={ratesOf(samplesOf("server requests"))} />
        <Line title="Memory" unit="MB" points={samplesOf("server memory")} />
      </div>
    </>
  );
}

/** Returns a short duration with the digits that matter, such as `0.41 ms`. */
function milliseconds(ms: number): string {
  return ms < 10 ? `${ms.toFixed(2)} ms` : duration(ms);
}

/** The nodes of the engine, as the link of the server sees them. */
function Nodes({ metrics }: { metrics: Metrics }) {
  return (
    <section>
      <h2>Nodes</h2>
      <div class="scroll" role="region" aria-label="Nodes" tabIndex={0}>
        <table class="rows">
          <thead>
            <tr>
              <th scope="col">Node</th>
              <th scope="col">Role</th>
              <th scope="col">State</th>
            </tr>
          </thead>
          <tbody>
            {metrics.each("tailrace_engine_node_up").map((node) => (
              <tr key={node.labels.get("node")}>
                <th scope="row" class="mono">
                  {node.labels.get("node")}
                </th>
                <td>{node.labels.get("role")}</td>
                <td>{node.value === 1 ? "up" : <strong>down</strong>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
