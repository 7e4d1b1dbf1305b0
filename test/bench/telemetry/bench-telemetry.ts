import { parseArgs } from "node:util";
import { createPipe, startLogProcess, type Written } from "../../telemetry/log-process.ts";
import { type Load, startLoad } from "../contestants.ts";
import { peakMbOf } from "../process-stats.ts";
import { type Child, startChild } from "../processes.ts";
import { tablePrinter, twoDecimals } from "../report-table.ts";
import { measureInTurns, medianRatio, medianRound } from "../rounds.ts";
import { type BenchGateway, startGateway } from "../start-gateway.ts";

const CONNECTIONS = 32;
/** What each gateway exports, by the label in the report. The first one is the measure of the others. */
const FORMS: Readonly<Record<string, Readonly<Record<string, string>> | undefined>> = {
  "no traces": undefined,
  "1 % of traces": { OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "0.01" },
  "every trace": { OTEL_TRACES_SAMPLER: "always_on" },
};
/** The rate that the log must keep up with. */
const LINES_PER_SECOND = 5_000;

interface Durations {
  readonly rounds: number;
  readonly roundMs: number;
  /** Length of a window of the warm-up. */
  readonly warmUpMs: number;
  readonly logS: number;
}

const FULL: Durations = { rounds: 7, roundMs: 2_000, warmUpMs: 1_500, logS: 10 };
const QUICK: Durations = { rounds: 3, roundMs: 800, warmUpMs: 1_000, logS: 3 };

interface FormResult {
  readonly label: string;
  /** Medians over the rounds. */
  readonly perSecond: number;
  readonly cpuUs: number;
  /** Median of the ratios of consecutive rounds to those without traces. */
  readonly cpuRatio: number;
  readonly peakMb: number;
}

/** The log at {@link LINES_PER_SECOND}, with a reader that takes every line at once. */
type LogResult = Written & { readonly bytesRead: number };

/** `bun run bench telemetry [--quick] [--json]`: what traces and the log cost. */
export async function benchTelemetry(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { quick: { type: "boolean", default: false }, json: { type: "boolean", default: false } },
  });
  const durations = values.quick ? QUICK : FULL;
  const log = await measureLog(durations);
  const traces = await measureTraces(durations);
  console.log(values.json ? JSON.stringify({ log, traces }) : printReport(log, traces));
}

async function measureLog({ logS }: Durations): Promise<LogResult> {
  const pipe = createPipe();
  const child = startLogProcess(LINES_PER_SECOND * logS, LINES_PER_SECOND, pipe.writeEnd);
  void child.written.then(() => child.close());
  let bytesRead = 0;
  for (let piece = pipe.read(); piece !== undefined; piece = pipe.read()) {
    bytesRead += piece.length;
    await Bun.sleep(1);
  }
  return { ...(await child.written), bytesRead };
}

async function measureTraces(durations: Durations): Promise<readonly FormResult[]> {
  const upstream = await startChild("upstream-process.ts");
  const collector = await startChild("collector-process.ts");
  const load = startLoad();
  const gateways: BenchGateway[] = [];
  try {
    for (const form of Object.values(FORMS)) gateways.push(await start(upstream, collector, form));
    return await compare(load, gateways, durations);
  } finally {
    await Promise.all(gateways.map((each) => each.remove()));
    await Promise.all([load.stop(), upstream.stop(), collector.stop()]);
  }
}

function start(upstream: Child, collector: Child, form: Readonly<Record<string, string>> | undefined) {
  return startGateway(upstream.url, form && { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...form });
}

async function compare(
  load: Load,
  gateways: readonly BenchGateway[],
  durations: Durations,
): Promise<readonly FormResult[]> {
  const measured = await measureInTurns(load, gateways, { ...durations, connections: CONNECTIONS });
  const labels = Object.keys(FORMS);
  const [plain = []] = measured;
  return Promise.all(
    measured.map(async (own, at) => ({
      label: labels[at] ?? "",
      perSecond: medianRound(own, "perSecond"),
      cpuUs: medianRound(own, "cpuUs"),
      cpuRatio: medianRatio(own, plain, "cpuUs"),
      peakMb: await peakMbOf(gateways[at]?.pid ?? 0),
    })),
  );
}

function printReport(log: LogResult, traces: readonly FormResult[]): string {
  const row = tablePrinter(16, 14);
  const rows = traces.map(({ label, perSecond, cpuUs: us, cpuRatio, peakMb }) =>
    row(label, [perSecond.toFixed(0), us.toFixed(0), twoDecimals(cpuRatio), peakMb.toFixed(0)]),
  );
  const { written, dropped, seconds, longestMs } = log;
  return [
    `whole answers, ${CONNECTIONS} connections`,
    row("", ["answers/s", "CPU µs", "÷ no traces", "peak MB"]),
    ...rows,
    "",
    `log: ${written} lines in ${seconds.toFixed(1)} s, ${dropped} dropped, ` +
      `${(log.cpuUs / written).toFixed(1)} µs a line, longest delay ${longestMs.toFixed(1)} ms`,
  ].join("\n");
}
