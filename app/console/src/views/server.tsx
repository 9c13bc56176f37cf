/**
 * The server itself: version, storage, commits, memory, connections, limits, slow operations.
 *
 * The figures are those of `/metrics`. The tab reads them while this view is open.
 */
import type { ComponentChildren } from "preact";
import { useLoaded } from "../hooks";
import { Line } from "../plots";
import { rateNow, ratesOf, sample, samplesOf } from "../samples";
import { send } from "../server";
import { useRefusal } from "../access";
import { bytes, count, rate } from "../format";
import { Pending } from "../messages";
import { duration } from "../time";
import { Time } from "../ui";
import { type Metrics, quantile, readMetrics } from "./metrics";

/** The figures take more of the server's time than the readiness, so they are read less often. */
const METRICS_EVERY_MS = 5_000;
const READY_EVERY_MS = 3_000;
const SLOW_EVERY_MS = 10_000;

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
      {metrics.data && <Figures metrics={metrics.data} />}
      <SlowLog />
      <Limits />
    </>
  );
}

function Figures({ metrics }: { metrics: Metrics }) {
  const value = (name: string) => metrics.value(name);
  const has = (name: string) => metrics.has(name);
  const isStored = has("tailrace_commits_total");
  const isGateway = has("tailrace_engine_node_up");
  const commit = (part: number) => {
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
        ["CPU", `${((rateNow(samplesOf("server cpu")) ?? 0) * 100).toFixed(0)} % of a core`],
      ],
    ],
    [
      "Store",
      [
        ["Kind", isGateway ? "Redis or Valkey" : isStored ? "embedded, on disk" : "embedded, in memory only"],
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
              ["50 % of commits", commit(0.5)],
              ["99 % of commits", commit(0.99)],
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

interface SlowOperation {
  readonly id: number;
  readonly at_ms: number;
  readonly operation: string;
  readonly engine_ms: number;
  readonly commit_ms: number;
  readonly other_ms: number;
  readonly request_id: string | null;
}

interface SlowPage {
  readonly threshold_ms: number;
  readonly operations: readonly SlowOperation[];
}

function SlowLog() {
  const why = useRefusal()("admin");
  const log = useLoaded<SlowPage | undefined>(
    async (signal) =>
      why === undefined ? send<SlowPage>("GET", "/v1/slow-log", { query: { limit: 20 }, signal }) : undefined,
    `slow ${why === undefined}`,
    SLOW_EVERY_MS,
  );
  return (
    <section>
      <h2>Slow operations</h2>
      {why !== undefined && <p class="why">The slow log is off: {why}</p>}
      {why === undefined && <Pending of={log} what="the slow log" />}
      {log.data?.operations.length === 0 && (
        <p class="quiet">No operation took longer than {log.data.threshold_ms} ms.</p>
      )}
      {log.data && log.data.operations.length > 0 && (
        <div class="scroll" role="region" aria-label="Slow operations" tabIndex={0}>
          <table class="rows">
            <thead>
              <tr>
                <th scope="col">Time</th>
                <th scope="col">Operation</th>
                <th scope="col" class="number">
                  Engine
                </th>
                <th scope="col" class="number">
                  Disk
                </th>
                <th scope="col" class="number">
                  Other
                </th>
                <th scope="col">Request</th>
              </tr>
            </thead>
            <tbody>
              {log.data.operations.map((each) => (
                <tr key={each.id}>
                  <td>
                    <Time ms={each.at_ms} />
                  </td>
                  <th scope="row" class="mono">
                    {each.operation}
                  </th>
                  <td class="number">{each.engine_ms.toFixed(1)} ms</td>
                  <td class="number">{each.commit_ms.toFixed(1)} ms</td>
                  <td class="number">{each.other_ms.toFixed(1)} ms</td>
                  <td class="mono small">{each.request_id ?? "–"}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function Limits() {
  const limits = useLoaded(
    (signal) => send<Record<string, unknown>>("GET", "/v1/limits", { signal }),
    "limits",
  );
  return (
    <section>
      <details>
        <summary>
          <h2>Limits</h2>
        </summary>
        <Pending of={limits} what="the limits" />
        {limits.data && (
          <dl class="limits mono small">
            {Object.entries(limits.data).map(([name, value]) =>
              typeof value === "number" ? (
                <div key={name}>
                  <dt>{name}</dt>
                  <dd>{value === 0 ? "0" : count(value)}</dd>
                </div>
              ) : null,
            )}
          </dl>
        )}
      </details>
    </section>
  );
}
