import { expect, test } from "bun:test";
import { createCatalog } from "../../src/catalog/catalog.ts";
import { NO_USAGE } from "../../src/domain/usage.ts";
import { countRequest } from "../../src/http/inference.ts";
import { createMetrics } from "../../src/telemetry/metrics.ts";
import type { EndedRequest } from "../../src/telemetry/request-metrics.ts";
import { leastCpuMs } from "../support/cpu-time.ts";
import { scriptedModel } from "../support/test-catalog.ts";
import { readSamples } from "./samples.ts";

const USAGE = {
  inputTokens: 100,
  cachedInputTokens: 20,
  cacheWriteTokens: 3,
  cacheWrite1hTokens: 1,
  outputTokens: 40,
};
const ENDED: EndedRequest = {
  surface: "chat",
  isEmbedding: false,
  model: "m",
  upstream: "up",
  code: "ok",
  ms: 400,
  addedMs: 1.5,
  settled: { granted: 3_000_000_000n, charged: 1_000_000_000n, firstOutputMs: 90, usage: USAGE },
};
const ROUTE = 'model="m",upstream="up"';
const LABELS =
  'gen_ai_operation_name="chat",gen_ai_request_model="m",gen_ai_provider_name="x_ai",upstream="up"';

/** The samples after these requests. */
async function samplesAfter(...requests: readonly Partial<EndedRequest>[]) {
  const { requests: metrics, print } = createMetrics();
  metrics.announce([{ model: "m", upstream: "up", provider: "x_ai" }]);
  for (const request of requests) metrics.ended({ ...ENDED, ...request });
  return readSamples(await print());
}

/** The samples of one metric, by its labels. */
function only(samples: ReadonlyMap<string, number>, name: string): Record<string, number> {
  const own = [...samples].filter(([sample]) => sample.startsWith(`${name}{`));
  return Object.fromEntries(own.map(([sample, value]) => [sample.slice(name.length), value]));
}

test("requests are counted by surface, model, upstream and code", async () => {
  const samples = await samplesAfter({}, {}, { surface: "messages", code: "upstream_timeout" });
  expect(only(samples, "tollgate_requests_total")).toMatchObject({
    [`{surface="chat",${ROUTE},code="ok"}`]: 2,
    [`{surface="messages",${ROUTE},code="upstream_timeout"}`]: 1,
  });
});

test("the usual codes of a surface are printed as 0 from its first request on", async () => {
  const samples = await samplesAfter({});
  expect(only(samples, "tollgate_requests_total")).toEqual({
    [`{surface="chat",${ROUTE},code="ok"}`]: 1,
    [`{surface="chat",${ROUTE},code="upstream_unavailable"}`]: 0,
    [`{surface="chat",${ROUTE},code="upstream_timeout"}`]: 0,
    [`{surface="chat",${ROUTE},code="internal_error"}`]: 0,
    '{surface="chat",model="",upstream="",code="ok"}': 0,
    '{surface="chat",model="",upstream="",code="upstream_unavailable"}': 0,
    '{surface="chat",model="",upstream="",code="upstream_timeout"}': 0,
    '{surface="chat",model="",upstream="",code="internal_error"}': 0,
    // The hold is taken before an upstream is called, and fails when the ledger does.
    '{surface="chat",model="m",upstream="",code="internal_error"}': 0,
  });
});

test("the first request without a model is counted once", async () => {
  const samples = await samplesAfter({
    model: "",
    upstream: "",
    code: "invalid_api_key",
    settled: undefined,
  });
  expect(
    samples.get('tollgate_requests_total{surface="chat",model="",upstream="",code="invalid_api_key"}'),
  ).toBe(1);
});

test("ten thousand model names of a client add no series", async () => {
  const { requests, print } = createMetrics();
  const parts = { requestMetrics: requests, catalog: createCatalog([scriptedModel("known", "openai")]) };
  const end = (model: string) => {
    const call = { record: { outcome: "model_not_found" }, progress: { requestedModel: model, waitedMs: 0 } };
    countRequest(parts, { surface: "chat", call, ms: 1 });
  };
  end("known");
  end("first");
  const before = readSamples(await print());
  for (let number = 0; number < 10_000; number++) end(`model-${number}`);
  const after = readSamples(await print());
  expect([...after.keys()]).toEqual([...before.keys()]);
  const total = (model: string) =>
    after.get(`tollgate_requests_total{surface="chat",model="${model}",upstream="",code="model_not_found"}`);
  expect([total("known"), total("")]).toEqual([1, 10_001]);
});

test("durations are cumulative buckets with the bounds of the semantic conventions", async () => {
  const samples = await samplesAfter({ ms: 10 }, { ms: 15 }, { ms: 900_000 });
  const name = "gen_ai_server_request_duration_seconds";
  const labels = `${LABELS},error_type=""`;
  expect(only(samples, `${name}_bucket`)).toMatchObject({
    [`{${labels},le="0.01"}`]: 1,
    [`{${labels},le="0.02"}`]: 2,
    [`{${labels},le="81.92"}`]: 2,
    [`{${labels},le="+Inf"}`]: 3,
  });
  expect(samples.get(`${name}_count{${labels}}`)).toBe(3);
  expect(samples.get(`${name}_sum{${labels}}`)).toBeCloseTo(900.025, 6);
});

test("the duration of a failed request is under its code", async () => {
  const samples = await samplesAfter({ code: "upstream_timeout", settled: undefined });
  const count = `gen_ai_server_request_duration_seconds_count{${LABELS},error_type="upstream_timeout"}`;
  expect(samples.get(count)).toBe(1);
  expect([...samples.keys()].filter((name) => name.includes("added_latency"))).toEqual([]);
});

test("a request that called no upstream has no duration: a refusal would hide how long answers take", async () => {
  const samples = await samplesAfter({ upstream: "", code: "rate_limit_exceeded", settled: undefined });
  expect([...samples.keys()].filter((name) => name.startsWith("gen_ai_"))).toEqual([]);
});

test("the time to the first output is that of streams", async () => {
  const whole = { ...ENDED.settled, granted: 0n, charged: 0n, usage: NO_USAGE, firstOutputMs: undefined };
  const samples = await samplesAfter({}, { settled: whole });
  expect(samples.get(`gen_ai_server_time_to_first_token_seconds_count{${LABELS}}`)).toBe(1);
  expect(samples.get(`gen_ai_server_time_to_first_token_seconds_sum{${LABELS}}`)).toBeCloseTo(0.09, 9);
});

test("embeddings are an operation of their own", async () => {
  const samples = await samplesAfter({ surface: "embeddings", isEmbedding: true });
  expect([...samples.keys()].join()).toContain('gen_ai_operation_name="embeddings",gen_ai_request_model="m"');
});

test("requests of two operations on one route have one series of money, and the provider's name", async () => {
  const { requests: metrics, print } = createMetrics();
  metrics.announce([{ model: "m", upstream: "up", provider: "x_ai" }]);
  metrics.ended({ ...ENDED, surface: "images" });
  metrics.ended({ ...ENDED, surface: "embeddings", isEmbedding: true });
  const text = await print();
  const money = text.split("\n").filter((line) => line.startsWith("tollgate_captured_usd_total{"));
  expect(money).toEqual([`tollgate_captured_usd_total{${ROUTE}} 2`]);
  const samples = readSamples(text);
  const counts = [LABELS, LABELS.replace("chat", "embeddings")].map((labels) =>
    samples.get(`gen_ai_client_token_usage_count{${labels},gen_ai_token_type="input"}`),
  );
  expect(counts).toEqual([1, 1]);
});

test("added latency is counted by surface", async () => {
  const samples = await samplesAfter({}, { surface: "messages", addedMs: 3 });
  expect(samples.get('tollgate_added_latency_seconds_bucket{surface="chat",le="0.001"}')).toBe(0);
  expect(samples.get('tollgate_added_latency_seconds_bucket{surface="chat",le="0.002"}')).toBe(1);
  expect(samples.get('tollgate_added_latency_seconds_sum{surface="messages"}')).toBe(0.003);
});

test("tokens are counted by class, and per request by input and output", async () => {
  const samples = await samplesAfter({}, {});
  expect(only(samples, "tollgate_tokens_total")).toEqual({
    [`{${ROUTE},class="input"}`]: 200,
    [`{${ROUTE},class="cached_input"}`]: 40,
    [`{${ROUTE},class="cache_write"}`]: 6,
    [`{${ROUTE},class="cache_write_1h"}`]: 2,
    [`{${ROUTE},class="output"}`]: 80,
  });
  expect(samples.get(`gen_ai_client_token_usage_sum{${LABELS},gen_ai_token_type="input"}`)).toBe(248);
  expect(samples.get(`gen_ai_client_token_usage_count{${LABELS},gen_ai_token_type="output"}`)).toBe(2);
});

test("granted and captured money are sums, and only a cost above its hold is overspent", async () => {
  const settled = {
    granted: 1_000_000_000n,
    charged: 1_250_000_000n,
    firstOutputMs: undefined,
    usage: NO_USAGE,
  };
  const samples = await samplesAfter({}, { settled });
  expect(samples.get(`tollgate_granted_usd_total{${ROUTE}}`)).toBe(4);
  expect(samples.get(`tollgate_captured_usd_total{${ROUTE}}`)).toBe(2.25);
  expect(samples.get(`tollgate_overspent_usd_total{${ROUTE}}`)).toBe(0.25);
});

test("only requests with a known upstream cost have a part in the margin, also those that cost more than they charged", async () => {
  const settled = { granted: 3n, charged: 2_000_000_000n, firstOutputMs: undefined, usage: undefined };
  const samples = await samplesAfter(
    { settled },
    { settled: { ...settled, upstreamCost: 1_500_000_000n } },
    { settled: { ...settled, charged: 0n, upstreamCost: 1_000_000_000n } },
  );
  expect(samples.get(`tollgate_captured_usd_total{${ROUTE}}`)).toBe(4);
  expect(samples.get(`tollgate_costed_usd_total{${ROUTE}}`)).toBe(2);
  expect(samples.get(`tollgate_upstream_cost_usd_total{${ROUTE}}`)).toBe(2.5);
});

test("a million small costs add up exactly", async () => {
  const { requests, print } = createMetrics();
  const settled = { granted: 3n, charged: 1n, firstOutputMs: undefined, usage: undefined };
  const request = { ...ENDED, settled };
  for (let left = 1_000_000; left > 0; left--) requests.ended(request);
  const samples = readSamples(await print());
  expect(samples.get(`tollgate_captured_usd_total{${ROUTE}}`)).toBe(0.001);
});

test("the sums of a configured route are printed as 0 before its first request", async () => {
  const { requests, print } = createMetrics();
  const route = { model: "m", upstream: "up", provider: "openai" };
  requests.announce([route]);
  requests.ended(ENDED);
  requests.announce([route, { ...route, upstream: "other" }]);
  const samples = readSamples(await print());
  expect(samples.get('tollgate_overspent_usd_total{model="m",upstream="other"}')).toBe(0);
  expect(samples.get(`tollgate_captured_usd_total{${ROUTE}}`)).toBe(1);
});

test("a name from the configuration is escaped", async () => {
  const { requests, print } = createMetrics();
  requests.ended({ ...ENDED, model: 'a"b\\c\nd' });
  expect(await print()).toContain('tollgate_captured_usd_total{model="a\\"b\\\\c\\nd",upstream="up"} 1\n');
});

test("counting a request takes less than a microsecond", () => {
  const { requests } = createMetrics();
  const count = 200_000;
  const countOften = () => {
    for (let left = count; left > 0; left--) requests.ended(ENDED);
  };
  expect(leastCpuMs(countOften) / count).toBeLessThan(0.001);
});
