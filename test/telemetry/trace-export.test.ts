import { expect, test } from "bun:test";
import type { TraceSpan } from "../../src/telemetry/request-trace.ts";
import type { TracesConfig } from "../../src/telemetry/request-tracing.ts";
import { startTraces, type Traces } from "../../src/telemetry/trace-export.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { startOtlpReceiver } from "../support/otlp/receiver.ts";
import { tracesTo } from "../support/otlp/traces-to.ts";
import { until } from "../support/until.ts";

/** A port of loopback where nothing listens. */
const NOWHERE = "http://127.0.0.1:9";

async function start(url: string, more: Partial<TracesConfig> = {}) {
  const log = createCapturedLog();
  const process = { serviceName: "tollgate", version: "0", log, reportEveryMs: 20 };
  return { log, traces: await startTraces(tracesTo(url, more), process) };
}

function startRequest({ startRequest: begin }: Traces): TraceSpan {
  const request = { requestId: "r", route: "/v1", surface: "chat", headers: new Headers(), startedAt: 0 };
  return begin(request, performance.now());
}

function endRequests(traces: Traces, count: number): void {
  for (let ended = 0; ended < count; ended += 1) startRequest(traces).end(performance.now(), {});
}

test("spans above the queue are dropped at once, counted and logged", async () => {
  const { promise: answered, resolve } = Promise.withResolvers<void>();
  const receiver = startOtlpReceiver(() => answered.then(() => new Response("")));
  const { traces, log } = await start(receiver.url, { queueMax: 10, batchMax: 4 });
  endRequests(traces, 100);
  expect(traces.dropped).toBe(90);
  await until(() => log.text().includes("spans dropped"));
  expect(log.text()).toContain('"spans":90');
  resolve();
  await until(() => receiver.spans.length === 10);
  await traces.close(10_000);
  expect(traces.dropped).toBe(90);
  await receiver.stop();
});

test("a receiver that is away delays no close beyond its limit, and every span counts as dropped", async () => {
  const { traces, log } = await start(NOWHERE);
  endRequests(traces, 100);
  const began = performance.now();
  await traces.close(300);
  expect(performance.now() - began).toBeLessThan(9_000);
  expect(traces.dropped).toBe(100);
  expect(log.text()).toContain('"total":100');
  expect(log.text()).not.toContain("127.0.0.1");
});

test.each([
  ["a redirect", () => Response.redirect(NOWHERE)],
  ["an error of the client", () => new Response("canary", { status: 400 })],
])("a receiver that answers %s drops the export, and gets the next one", async (_what, answer) => {
  let isWell = false;
  const receiver = startOtlpReceiver(() => (isWell ? new Response("") : answer()));
  const { traces, log } = await start(receiver.url);
  endRequests(traces, 3);
  await until(() => traces.dropped === 3);
  isWell = true;
  endRequests(traces, 2);
  await until(() => receiver.spans.length === 2);
  await traces.close(10_000);
  expect(traces.dropped).toBe(3);
  expect(log.text()).not.toContain("canary");
  await receiver.stop();
});

test("a receiver that lies about its answer has its spans", async () => {
  const receiver = startOtlpReceiver(() => new Response("x".repeat(100_000)));
  const { traces } = await start(receiver.url);
  endRequests(traces, 3);
  await until(() => receiver.spans.length === 3);
  await traces.close(10_000);
  expect(traces.dropped).toBe(0);
  await receiver.stop();
});

test("a close exports what waits", async () => {
  const receiver = startOtlpReceiver();
  const { traces } = await start(receiver.url, { delayMs: 100_000, batchMax: 4 });
  endRequests(traces, 10);
  await traces.close(60_000);
  expect(receiver.spans).toHaveLength(10);
  expect(traces.dropped).toBe(0);
  await receiver.stop();
});

test("a span is dated by the wall clock of its request, whatever jumps the clock made before", async () => {
  const receiver = startOtlpReceiver();
  const { traces } = await start(receiver.url);
  const span = startRequest(traces);
  const at = performance.now();
  const child = span.child("verb", at - 5);
  child.end(at - 2, {});
  span.end(at, {});
  span.end(at + 1_000, {});
  await traces.close(60_000);
  const [verb, root] = receiver.spans;
  expect(receiver.spans).toHaveLength(2);
  expect((verb?.endMs ?? 0) - (verb?.startMs ?? 0)).toBeCloseTo(3, 1);
  expect(Math.abs((root?.endMs ?? 0) - Date.now())).toBeLessThan(120_000);
  await receiver.stop();
});
