import type { Redis } from "ioredis";
import type { Limiter } from "../../../src/limiter/limiter.ts";
import { type Percentiles, percentilesOf } from "../percentiles.ts";
import type { AdmissionLoad } from "./loads.ts";

/** What was done in a closed loop. */
export interface LoadResult {
  /** Admissions, refusals and releases. */
  readonly operationsPerSecond: number;
  /** Admissions and refusals alone. */
  readonly decisionsPerSecond: number;
  /** Of a decision. */
  readonly latencyMs: Percentiles;
}

/** What was really used of the tokens of an admission. */
const USED_TOKENS = 900;
const STRIDE = 7_919;

/** Asks to be admitted and gives back at once, for a while. */
export async function runLoad(
  limiter: Limiter,
  { requests, waiting }: AdmissionLoad,
  ms: number,
): Promise<LoadResult> {
  const latenciesMs: number[] = [];
  const startMs = performance.now();
  let releases = 0;
  let turn = 0;
  const work = async () => {
    for (let askedMs = performance.now(); askedMs - startMs < ms; askedMs = performance.now()) {
      // A prime stride visits all callers in a scattered order.
      turn += STRIDE;
      const request = requests[turn % requests.length];
      if (!request) throw new Error("A load has no requests");
      const decision = await limiter.admit(request);
      latenciesMs.push(performance.now() - askedMs);
      if (!decision.admitted) continue;
      await decision.settle(USED_TOKENS);
      releases += 1;
    }
  };
  await Promise.all(Array.from({ length: waiting }, work));
  const seconds = (performance.now() - startMs) / 1_000;
  return {
    operationsPerSecond: (latenciesMs.length + releases) / seconds,
    decisionsPerSecond: latenciesMs.length / seconds,
    latencyMs: percentilesOf(latenciesMs),
  };
}

/** The same with the least that Redis can count: one INCR after another. Returns how many a second. */
export async function runIncr(
  client: Redis,
  { waiting, ms }: { readonly waiting: number; readonly ms: number },
): Promise<number> {
  const startMs = performance.now();
  let count = 0;
  const work = async () => {
    while (performance.now() - startMs < ms) {
      await client.incr("bench:incr");
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: waiting }, work));
  return count / ((performance.now() - startMs) / 1_000);
}
