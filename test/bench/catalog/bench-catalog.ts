import { parseArgs } from "node:util";
import { BURST_MODEL, FAST_MODEL, SLOW_MODEL } from "../answers.ts";
import { type Load, startLoad } from "../contestants.ts";
import { peakMbOf } from "../process-stats.ts";
import { startChild } from "../processes.ts";
import { tablePrinter, twoDecimals } from "../report-table.ts";
import { measureInTurns, medianRatio, medianRound, type Round } from "../rounds.ts";
import {
  type BenchGateway,
  type ExtraConfig,
  modelEntry,
  startGateway,
  upstreamEntry,
} from "../start-gateway.ts";

const CONNECTIONS = 32;
const MODELS = 500;
const UPSTREAMS = 40;
const KEYS_EACH = 5;
/** Routes of each model of the large configuration, for the form that has a choice of routes. */
const ROUTES = 4;

interface Durations {
  readonly rounds: number;
  readonly roundMs: number;
  /** Length of a window of the warm-up. */
  readonly warmUpMs: number;
}

const FULL: Durations = { rounds: 20, roundMs: 1_500, warmUpMs: 1_500 };
const QUICK: Durations = { rounds: 4, roundMs: 800, warmUpMs: 1_000 };

interface FormResult extends Round {
  readonly label: string;
  /** Medians of the ratios to the smallest configuration, round by round. */
  readonly rateRatio: number;
  readonly cpuRatio: number;
  readonly peakMb: number;
}

/** `bun run bench catalog [--quick] [--json]`: what a request costs under a large configuration. */
export async function benchCatalog(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { quick: { type: "boolean", default: false }, json: { type: "boolean", default: false } },
  });
  const results = await measure(values.quick ? QUICK : FULL);
  console.log(values.json ? JSON.stringify(results) : printReport(results));
}

async function measure(durations: Durations): Promise<readonly FormResult[]> {
  const upstream = await startChild("upstream-process.ts");
  const load = startLoad();
  const gateways: BenchGateway[] = [];
  const forms = formsOf(upstream.url);
  try {
    for (const form of Object.values(forms)) gateways.push(await startGateway(upstream.url, {}, form));
    return await compare(load, { gateways, labels: Object.keys(forms) }, durations);
  } finally {
    await Promise.all(gateways.map((each) => each.remove()));
    await Promise.all([load.stop(), upstream.stop()]);
  }
}

/** The configurations by their label. The first one is the measure of the others. */
function formsOf(url: string): Readonly<Record<string, ExtraConfig>> {
  return {
    "1 model, 1 upstream, 1 key": { upstreams: {}, models: {} },
    [`${MODELS} models, ${UPSTREAMS} upstreams, ${UPSTREAMS * KEYS_EACH} keys`]: largeConfig(url, 1),
    [`as above, ${ROUTES} routes each`]: largeConfig(url, ROUTES),
  };
}

function largeConfig(url: string, routes: number): ExtraConfig {
  const names = Array.from({ length: UPSTREAMS }, (_, index) => (index === 0 ? "bench" : `bench-${index}`));
  const { api_key: _, ...entry } = { api_key: "", ...upstreamEntry(url) };
  const pools = names.map((name) => [name, { ...entry, keys: poolOf(name) }]);
  const ids = Array.from({ length: MODELS - 3 }, (__, index) => `model-${index}`);
  const models = [FAST_MODEL, BURST_MODEL, SLOW_MODEL, ...ids].map((id, index) => [
    id,
    modelEntry(
      Array.from({ length: routes }, (__, at) => ({ upstream: names[(index + at) % UPSTREAMS], model: id })),
    ),
  ]);
  return { upstreams: Object.fromEntries(pools), models: Object.fromEntries(models) };
}

function poolOf(name: string): Readonly<Record<string, object>> {
  const keys = Array.from({ length: KEYS_EACH }, (_, index) => [
    `k${index}`,
    { api_key: `${name}-key-${index}` },
  ]);
  return Object.fromEntries(keys);
}

interface Contest {
  readonly gateways: readonly BenchGateway[];
  readonly labels: readonly string[];
}

async function compare(
  load: Load,
  { gateways, labels }: Contest,
  durations: Durations,
): Promise<readonly FormResult[]> {
  const measured = await measureInTurns(load, gateways, { ...durations, connections: CONNECTIONS });
  const [smallest = []] = measured;
  return Promise.all(
    measured.map(async (own, at) => ({
      label: labels[at] ?? "",
      perSecond: medianRound(own, "perSecond"),
      cpuUs: medianRound(own, "cpuUs"),
      rateRatio: medianRatio(own, smallest, "perSecond"),
      cpuRatio: medianRatio(own, smallest, "cpuUs"),
      peakMb: await peakMbOf(gateways[at]?.pid ?? 0),
    })),
  );
}

function printReport(results: readonly FormResult[]): string {
  const row = tablePrinter(38, 12);
  const rows = results.map(({ label, perSecond, cpuUs: us, rateRatio, cpuRatio, peakMb }) =>
    row(label, [
      perSecond.toFixed(0),
      us.toFixed(0),
      twoDecimals(rateRatio),
      twoDecimals(cpuRatio),
      peakMb.toFixed(0),
    ]),
  );
  return [
    `whole answers, ${CONNECTIONS} connections`,
    row("", ["answers/s", "CPU µs", "rate ÷ 1st", "CPU ÷ 1st", "peak MB"]),
    ...rows,
  ].join("\n");
}
