import { expect, test } from "bun:test";
import { createMetrics } from "../../src/telemetry/metrics.ts";
import { cpuMs, leastCpuMs } from "../support/cpu-time.ts";
import { until } from "../support/until.ts";
import { readSamples } from "./samples.ts";

test("every possible count is printed as 0 from the start", async () => {
  expect(ownOf(await createMetrics({ version: "1.2.3" }).print())).toEqual({
    'tollgate_build_info{version="1.2.3"}': 1,
    'tollgate_console_sign_ins_total{result="accepted"}': 0,
    'tollgate_console_sign_ins_total{result="code_needed"}': 0,
    'tollgate_console_sign_ins_total{result="wrong"}': 0,
    'tollgate_console_sign_ins_total{result="throttled"}': 0,
    'tollgate_console_sign_ins_total{result="failed"}': 0,
    'tollgate_ledger_faults_total{fault="busy"}': 0,
    'tollgate_ledger_faults_total{fault="away"}': 0,
    'tollgate_ledger_faults_total{fault="unavailable"}': 0,
    'tollgate_ledger_faults_total{fault="rejected"}': 0,
    'tollgate_ledger_faults_total{fault="unknown"}': 0,
    'tollgate_settle_failures_total{result="stored"}': 0,
    'tollgate_settle_failures_total{result="declined"}': 0,
    'tollgate_settle_failures_total{result="lost"}': 0,
    'tollgate_settle_failures_total{result="replay_declined"}': 0,
    'tollgate_limiter_decisions_total{store="redis",outcome="admitted"}': 0,
    'tollgate_limiter_decisions_total{store="redis",outcome="rate"}': 0,
    'tollgate_limiter_decisions_total{store="redis",outcome="concurrency"}': 0,
    'tollgate_limiter_decisions_total{store="memory",outcome="admitted"}': 0,
    'tollgate_limiter_decisions_total{store="memory",outcome="rate"}': 0,
    'tollgate_limiter_decisions_total{store="memory",outcome="concurrency"}': 0,
    'tollgate_limiter_decisions_total{store="none",outcome="unavailable"}': 0,
    tollgate_limiter_gateways: 0,
    tollgate_plan_failures_total: 0,
    tollgate_plan_periods_total: 0,
    'tollgate_recordings_total{result="stored"}': 0,
    'tollgate_recordings_total{result="stopped"}': 0,
    'tollgate_recordings_total{result="size"}': 0,
    'tollgate_recordings_total{result="memory"}': 0,
    'tollgate_recordings_total{result="worker"}': 0,
    'tollgate_recordings_total{result="database"}': 0,
    tollgate_recording_bytes_total: 0,
    'tollgate_recordings_deleted_total{reason="expired"}': 0,
    'tollgate_recordings_deleted_total{reason="room"}': 0,
  });
});

test("decisions are counted by store and outcome across readings", async () => {
  const { limiter, print } = createMetrics();
  limiter.decided("redis", "admitted");
  limiter.decided("redis", "admitted");
  limiter.decided("memory", "rate");
  await print();
  limiter.decided("redis", "admitted");
  limiter.decided("none", "unavailable");
  expect(ownOf(await print())).toMatchObject({
    'tollgate_limiter_decisions_total{store="redis",outcome="admitted"}': 3,
    'tollgate_limiter_decisions_total{store="redis",outcome="rate"}': 0,
    'tollgate_limiter_decisions_total{store="memory",outcome="rate"}': 1,
    'tollgate_limiter_decisions_total{store="none",outcome="unavailable"}': 1,
  });
});

test("the gauge of Redis shows the current state of each shard", async () => {
  const { limiter, print } = createMetrics();
  limiter.shared("10.0.0.1:6379", true);
  limiter.shared("10.0.0.2:6379", true);
  await print();
  limiter.shared("10.0.0.2:6379", false);
  expect(ownOf(await print())).toMatchObject({
    'tollgate_limiter_shared{shard="10.0.0.1:6379"}': 1,
    'tollgate_limiter_shared{shard="10.0.0.2:6379"}': 0,
  });
});

test("attempts are counted by upstream and outcome across readings", async () => {
  const { upstream, print } = createMetrics();
  upstream.attempted("a", "ok", 20);
  upstream.attempted("a", "ok", 20);
  upstream.attempted("b", "empty_completion", 20);
  await print();
  upstream.attempted("a", "ok", 20);
  upstream.attempted("a", "upstream_timeout", 20);
  expect(ownOf(await print())).toMatchObject({
    'tollgate_upstream_attempts_total{upstream="a",outcome="ok"}': 3,
    'tollgate_upstream_attempts_total{upstream="a",outcome="upstream_timeout"}': 1,
    'tollgate_upstream_attempts_total{upstream="b",outcome="empty_completion"}': 1,
  });
});

test("the first call for an upstream creates its series, with the usual outcomes as 0", async () => {
  const { upstream, print } = createMetrics();
  upstream.circuit("a", false);
  const samples = Object.entries(ownOf(await print()));
  expect(Object.fromEntries(samples.filter(([sample]) => sample.includes("upstream=")))).toEqual({
    'tollgate_upstream_attempts_total{upstream="a",outcome="ok"}': 0,
    'tollgate_upstream_attempts_total{upstream="a",outcome="upstream_unavailable"}': 0,
    'tollgate_upstream_attempts_total{upstream="a",outcome="upstream_timeout"}': 0,
    'tollgate_upstream_calls{upstream="a"}': 0,
    'tollgate_upstream_circuit_open{upstream="a"}': 0,
    'tollgate_usage_above_bound_total{upstream="a",kind="input"}': 0,
    'tollgate_usage_above_bound_total{upstream="a",kind="output"}': 0,
    'tollgate_usage_above_bound_total{upstream="a",kind="units"}': 0,
    'tollgate_usage_above_bound_total{upstream="a",kind="calls"}': 0,
    'tollgate_usage_above_bound_total{upstream="a",kind="tier"}': 0,
  });
});

test("usage reports above the bound are counted by upstream and kind across readings", async () => {
  const { upstream, print } = createMetrics();
  upstream.aboveBound("a", "input");
  await print();
  upstream.aboveBound("a", "input");
  upstream.aboveBound("b", "output");
  expect(ownOf(await print())).toMatchObject({
    'tollgate_usage_above_bound_total{upstream="a",kind="input"}': 2,
    'tollgate_usage_above_bound_total{upstream="a",kind="output"}': 0,
    'tollgate_usage_above_bound_total{upstream="b",kind="output"}': 1,
  });
});

test("the gauges of running calls and the circuit show the current state", async () => {
  const { upstream, print } = createMetrics();
  for (const name of ["a", "a", "b"]) upstream.running(name, 1);
  upstream.circuit("a", true);
  upstream.circuit("b", true);
  await print();
  upstream.running("a", -1);
  upstream.running("b", -1);
  upstream.circuit("b", false);
  expect(ownOf(await print())).toMatchObject({
    'tollgate_upstream_calls{upstream="a"}': 1,
    'tollgate_upstream_calls{upstream="b"}': 0,
    'tollgate_upstream_circuit_open{upstream="a"}': 1,
    'tollgate_upstream_circuit_open{upstream="b"}': 0,
  });
});

test("the name of an upstream is escaped", async () => {
  const { upstream, print } = createMetrics();
  upstream.running('a"b\\c\nd', 1);
  expect(await print()).toContain('tollgate_upstream_calls{upstream="a\\"b\\\\c\\nd"} 1\n');
});

test("two gateways of one process count separately", async () => {
  const [one, other] = [createMetrics(), createMetrics()];
  one.limiter.peerGateways(3);
  one.limiter.decided("memory", "admitted");
  one.upstream.attempted("a", "ok", 20);
  expect(ownOf(await one.print()).tollgate_limiter_gateways).toBe(3);
  const others = ownOf(await other.print());
  expect(Object.entries(others).filter(([name, value]) => value > 0 && !name.includes("_info"))).toEqual([]);
});

test("two concurrent readings are both complete", async () => {
  const { limiter, print } = createMetrics();
  limiter.decided("memory", "admitted");
  const [one, other] = await Promise.all([print(), print()]);
  expect(ownOf(one)).toEqual(ownOf(other));
});

test("every metric has help, a type and numeric values from the first reading on", async () => {
  const { limiter, upstream, print } = createMetrics();
  limiter.shared("a", true);
  upstream.attempted("a", "ok", 20);
  for (const text of [await print(), await print()]) {
    const samples = readSamples(text);
    const names = [...samples.keys()].map((sample) => sample.replace(/\{.*/, ""));
    for (const name of names.map((each) => each.replace(/_(bucket|sum|count)$/, ""))) {
      expect(text).toContain(`# HELP ${name} `);
      expect(text).toMatch(new RegExp(`^# TYPE ${name} (counter|gauge|histogram)$`, "m"));
    }
    expect([...samples].filter(([, value]) => !(value >= 0 && value < 1e15))).toEqual([]);
  }
});

test("the process metrics are correct", async () => {
  const { print } = createMetrics();
  const before = readSamples(await print());
  const work = () => void Bun.hash("x".repeat(1_000_000));
  for (let spentMs = 0; spentMs < 100; ) spentMs += cpuMs(work);
  const after = readSamples(await print());
  const of = (name: string) => after.get(name) ?? Number.NaN;
  const cpu = "process_cpu_seconds_total";
  expect(of(cpu) - (before.get(cpu) ?? Number.NaN)).toBeGreaterThan(0.02);
  expect(of("process_resident_memory_bytes") / process.memoryUsage().rss).toBeWithin(0.5, 2);
  expect(of("process_start_time_seconds") * 1000).toBeWithin(Date.now() - 3_600_000, Date.now() + 1000);
  expect(of("process_open_fds")).toBeWithin(3, of("process_max_fds"));
});

test("a blocked event loop shows in the next reading alone", async () => {
  const { print } = createMetrics();
  const lag = async () => readSamples(await print()).get("nodejs_eventloop_lag_max_seconds");
  await lag();
  // The lag is measured between two ticks of a timer, which starts with the first reading.
  await Bun.sleep(40);
  await blockLoop(2_000);
  expect(await lag()).toBeGreaterThan(1.5);
  await until(async () => ((await lag()) ?? 0) < 1.5);
});

async function blockLoop(ms: number): Promise<void> {
  const untilMs = performance.now() + ms;
  while (performance.now() < untilMs);
  await Bun.sleep(40);
}

test("process metrics that are wrong on Bun are left out", async () => {
  const names = [...readSamples(await createMetrics().print()).keys()].join("\n");
  expect(names).not.toMatch(/heap|active|version|gc_|_min_|_mean_|_stddev_/);
});

test("counting a decision takes less than 0.5 µs", () => {
  const { limiter } = createMetrics();
  expect(costMs(() => limiter.decided("redis", "admitted"))).toBeLessThan(0.0005);
});

test("counting an attempt takes less than 2 µs", () => {
  const { upstream } = createMetrics();
  const tell = () => {
    upstream.running("a", 1);
    upstream.attempted("a", "ok", 20);
    upstream.running("a", -1);
  };
  expect(costMs(tell)).toBeLessThan(0.002);
});

/** Returns the mean duration of a call. */
function costMs(call: () => void): number {
  const count = 200_000;
  const callOften = () => {
    for (let left = count; left > 0; left--) call();
  };
  return leastCpuMs(callOften) / count;
}

/** Returns the samples without those of the process. */
function ownOf(text: string): Record<string, number> {
  return Object.fromEntries([...readSamples(text)].filter(([name]) => name.startsWith("tollgate_")));
}
