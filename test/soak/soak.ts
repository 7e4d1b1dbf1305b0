import { parseArgs } from "node:util";
import { residentMb } from "../bench/process-stats.ts";
import { startFlakyUpstreams } from "../storm/flaky-upstreams.ts";
import { untilSettled } from "../storm/run-storm.ts";
import { startStormGateway } from "../storm/storm-gateway.ts";
import { createSoakLoad } from "./soak-load.ts";
import { type Trend, trendOf } from "./trend.ts";

// `bun run soak [--minutes 10] [--seed S]`: a gateway at half of what it can do, with some faults and some clients
// that hang up, for as long as it takes to see whether its memory grows. Exits with 1 when it does, when a request
// ended wrongly, or when something is left at the end.
const { values } = parseArgs({
  options: { minutes: { type: "string", default: "10" }, seed: { type: "string", default: "soak" } },
});
const WEATHER = { seed: values.seed, goodAnswers: 0.97, steadyReaders: 0.95 };
const WARM_UP = { callers: 64, ms: 5_000 };
const CAPACITY = { callers: 64, ms: 10_000 };
const PRINT_EVERY_MS = 10_000;
const READ_EVERY_MS = 250;
/**
 * What a slope may be and still be flat: the five minutes of a second half tell no less from the collector's moods.
 * So what 1 MB a minute hides is 60 MB an hour at the most, which a longer run would show.
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

/** The least resident memory of every ten seconds: what is left when the collector has just been. */
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
  const { tally, underWay } = load;
  const requests = Object.values(tally).reduce((sum, count) => sum + count, 0);
  const ends = Object.entries(tally).map(([how, count]) => `${count} ${how}`);
  const memory = `RSS ${least.toFixed(1)} MB (at most ${most.toFixed(1)})`;
  console.log(`${seconds} s: ${memory}; ${requests} requests: ${ends.join(", ")}; ${underWay} under way`);
}

function printTrend({ mean, slope, slopeError }: Trend): boolean {
  const most = Math.max(FLAT.mbPerMinute, FLAT.shareOfMean * mean);
  const isFlat = slope <= most;
  const mayBeChance = slope - 2 * slopeError <= most;
  const verdict = isFlat
    ? "flat"
    : mayBeChance
      ? "NOT flat, but it may be chance: run it for longer"
      : "NOT flat";
  const share = ((slope / mean) * 100).toFixed(2);
  console.log(
    `second half: ${slope.toFixed(2)} MB/min (give or take ${slopeError.toFixed(2)}), ${share} % of the mean of ` +
      `${mean.toFixed(1)} MB a minute: ${verdict}`,
  );
  return isFlat;
}

/** Whether nothing is in use, the books are right, and every request ended in a way that the contract allows. */
async function printEnd(): Promise<boolean> {
  const left = await untilSettled(gateway, upstreams);
  const { openSockets } = await upstreams.count();
  console.log(
    `left: ${left.slots} slots, ${left.heldUsd.length} keys with money on hold, ${left.callsUnderWay} calls ` +
      `under way; ${openSockets} idle connections to upstreams`,
  );
  for (const seen of load.wrong) console.log(`wrong: request ${seen.number}: ${seen.detail}`);
  await gateway.stop();
  const { ok } = (await gateway.audit()).json();
  console.log(`audit: ${ok ? "the books are right" : "the books are NOT right"}`);
  const nothingLeft = left.slots + left.heldUsd.length + left.callsUnderWay === 0;
  return nothingLeft && load.wrong.length === 0 && ok === true;
}
