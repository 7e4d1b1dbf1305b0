import { parseArgs } from "node:util";
import { residentMb } from "../bench/process-stats.ts";
import { startFlakyUpstreams } from "../storm/flaky-upstreams.ts";
import { untilSettled } from "../storm/run-storm.ts";
import { startStormGateway } from "../storm/storm-gateway.ts";
import { createSoakLoad } from "./soak-load.ts";
import { type Trend, trendOf } from "./trend.ts";

// `bun run soak [--minutes 10] [--seed S]`: runs a gateway at half of its capacity, with some upstream faults
// and some client disconnects, and measures whether its memory grows. Exits with 1 when it does, when the
// outcome of a request violates the contract, or when slots, holds or calls are left at the end.
const { values } = parseArgs({
  options: { minutes: { type: "string", default: "10" }, seed: { type: "string", default: "soak" } },
});
const WEATHER = { seed: values.seed, goodAnswers: 0.97, steadyReaders: 0.95 };
const WARM_UP = { callers: 64, ms: 5_000 };
const CAPACITY = { callers: 64, ms: 10_000 };
const PRINT_EVERY_MS = 10_000;
const READ_EVERY_MS = 250;
/**
 * The largest slope that counts as flat: five minutes of measurement cannot tell a smaller one from the noise
 * of the garbage collector. 1 MB per minute hides at most 60 MB per hour, which a longer run would show.
 */
const FLAT = { mbPerMinute: 1, shareOfMean: 0.01 };

const upstreams = await startFlakyUpstreams(WEATHER);
const gateway = await startStormGateway(upstreams.url);
const load = createSoakLoad(gateway, WEATHER);
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => void close().finally(() => process.exit(1)));
}
try {
  await load.closed(WARM_UP);
  const capacity = await load.closed(CAPACITY);
  const perSecond = Math.round(capacity / 2);
  console.log(`capacity ${capacity.toFixed(0)} requests/s; ${perSecond}/s for ${values.minutes} minutes`);
  const ms = Number(values.minutes) * 60_000;
  const [points] = await Promise.all([watchMemory(ms), load.open({ perSecond, ms })]);
  const isFlat = printTrend(trendOf(points.slice(Math.floor(points.length / 2))));
  const isClean = await printEnd();
  process.exitCode = isFlat && isClean ? 0 : 1;
} finally {
  await close();
}

async function close(): Promise<void> {
  await gateway.remove();
  await upstreams.stop();
}

interface Point {
  /** Minutes. */
  readonly x: number;
  /** MB. */
  readonly y: number;
}

/** Returns the minimum of resident memory per 10 s, which is reached right after a garbage collection. */
async function watchMemory(ms: number): Promise<readonly Point[]> {
  const points: Point[] = [];
  const startedAt = performance.now();
  for (let printAt = PRINT_EVERY_MS; printAt <= ms; printAt += PRINT_EVERY_MS) {
    const readings: number[] = [];
    while (performance.now() - startedAt < printAt) {
      readings.push(await residentMb(gateway.pid));
      await Bun.sleep(READ_EVERY_MS);
    }
    const least = Math.min(...readings);
    points.push({ x: printAt / 60_000, y: least });
    printPoint({ seconds: printAt / 1_000, least, most: Math.max(...readings) });
  }
  return points;
}

function printPoint({ seconds, least, most }: { seconds: number; least: number; most: number }): void {
  const { tally, running } = load;
  const requests = Object.values(tally).reduce((sum, count) => sum + count, 0);
  const ends = Object.entries(tally).map(([how, count]) => `${count} ${how}`);
  const memory = `RSS ${least.toFixed(1)} MB (at most ${most.toFixed(1)})`;
  console.log(`${seconds} s: ${memory}; ${requests} requests: ${ends.join(", ")}; ${running} running`);
}

function printTrend({ mean, slope, slopeError }: Trend): boolean {
  const most = Math.max(FLAT.mbPerMinute, FLAT.shareOfMean * mean);
  const isFlat = slope <= most;
  const mayBeChance = slope - 2 * slopeError <= most;
  const verdict = isFlat
    ? "flat"
    : mayBeChance
      ? "NOT flat, but within the error: run it for longer"
      : "NOT flat";
  const share = ((slope / mean) * 100).toFixed(2);
  console.log(
    `second half: ${slope.toFixed(2)} MB/min (± ${slopeError.toFixed(2)}), ${share} % of the mean of ` +
      `${mean.toFixed(1)} MB a minute: ${verdict}`,
  );
  return isFlat;
}

/** Returns whether nothing is in use, the audit has no findings, and every outcome is within the contract. */
async function printEnd(): Promise<boolean> {
  const left = await untilSettled(gateway, upstreams);
  const { openSockets } = await upstreams.count();
  console.log(
    `left: ${left.slots} slots, ${left.heldUsd.length} keys with money on hold, ${left.callsUnderWay} calls ` +
      `running; ${openSockets} idle connections to upstreams`,
  );
  for (const seen of load.wrong) console.log(`wrong: request ${seen.number}: ${seen.detail}`);
  await gateway.stop();
  const { ok } = (await gateway.audit()).json();
  console.log(`audit: ${ok ? "no findings" : "FINDINGS"}`);
  const nothingLeft = left.slots + left.heldUsd.length + left.callsUnderWay === 0;
  return nothingLeft && load.wrong.length === 0 && ok === true;
}
