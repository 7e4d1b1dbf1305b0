import type { Redis } from "ioredis";
import type { AdmissionRequest, Limiter, Limits } from "../../../src/limiter/limiter.ts";
import { medianOf, type Percentiles, percentilesOf } from "../measurements.ts";
import type { Contestants } from "./contestants.ts";
import { ACCOUNTS_FEW, CALLERS_MANY, type LimiterPlan, WAITING, WAITING_FEW } from "./plan.ts";

/** The requests to admit, in turn, and the number of concurrent ones. */
export interface AdmissionLoad {
  readonly name: string;
  readonly requests: readonly AdmissionRequest[];
  readonly waiting: number;
}

/** Limits of every kind that are checked and never reached. */
export const WIDE: Limits = { requestsPerMinute: 1e9, tokensPerMinute: 1e13, concurrentRequests: 1e6 };
export const TOKENS = 1_200;
const LOW: Limits = { ...WIDE, requestsPerMinute: 100 };

export function createLoads(): readonly AdmissionLoad[] {
  return [
    { name: "1 hot key", requests: [requestOf()], waiting: WAITING },
    {
      name: `${CALLERS_MANY} keys of as many accounts`,
      requests: Array.from({ length: CALLERS_MANY }, () => requestOf()),
      waiting: WAITING,
    },
    { name: `${CALLERS_MANY} keys of ${ACCOUNTS_FEW} accounts`, requests: ofFewAccounts(), waiting: WAITING },
    { name: "1 key at its limit", requests: [requestOf({ keyLimits: LOW })], waiting: WAITING },
    { name: "1 hot key, few waiting", requests: [requestOf()], waiting: WAITING_FEW },
    { name: "1 caller at a time", requests: [requestOf()], waiting: 1 },
  ];
}

/** A request with a key and an account of its own. */
export function requestOf(special: Partial<AdmissionRequest> = {}): AdmissionRequest {
  return {
    accountId: Bun.randomUUIDv7(),
    keyId: Bun.randomUUIDv7(),
    keyLimits: WIDE,
    accountLimits: WIDE,
    tokens: TOKENS,
    ...special,
  };
}

function ofFewAccounts(): readonly AdmissionRequest[] {
  const accountIds = Array.from({ length: ACCOUNTS_FEW }, () => Bun.randomUUIDv7());
  return Array.from({ length: CALLERS_MANY }, (_, index) =>
    requestOf({ accountId: accountIds[index % ACCOUNTS_FEW] ?? "" }),
  );
}

/** Medians over the rounds of one load. */
export interface RoundsResult extends LoadResult {
  readonly name: string;
  readonly waiting: number;
}

export interface BesideResult extends RoundsResult {
  readonly incrPerSecond: number;
  /**
   * Ratio of operations to INCRs, the median of consecutive rounds, so that other load of the machine affects
   * both.
   */
  readonly byIncr: number;
}

/** Runs rounds alternately with bare INCRs, with enough concurrent ones for their highest rate. */
export async function runBesideIncr(
  { bare, onRedis }: Contestants,
  load: AdmissionLoad,
  { rounds, roundMs, warmUpMs }: LimiterPlan,
): Promise<BesideResult> {
  await runIncr(bare, { waiting: WAITING, ms: warmUpMs });
  await runLoad(onRedis, load, warmUpMs);
  const incrs: number[] = [];
  const results: LoadResult[] = [];
  for (let round = 0; round < rounds; round += 1) {
    incrs.push(await runIncr(bare, { waiting: WAITING, ms: roundMs }));
    results.push(await runLoad(onRedis, load, roundMs));
  }
  const ratios = results.map(({ operationsPerSecond }, round) => operationsPerSecond / (incrs[round] ?? 0));
  return { ...mediansOf(load, results), incrPerSecond: medianOf(incrs), byIncr: medianOf(ratios) };
}

export async function runRounds(
  limiter: Limiter,
  load: AdmissionLoad,
  { rounds, roundMs, warmUpMs }: LimiterPlan,
): Promise<RoundsResult> {
  await runLoad(limiter, load, warmUpMs);
  const results: LoadResult[] = [];
  for (let round = 0; round < rounds; round += 1) results.push(await runLoad(limiter, load, roundMs));
  return mediansOf(load, results);
}

function mediansOf({ name, waiting }: AdmissionLoad, results: readonly LoadResult[]): RoundsResult {
  const medianBy = (read: (result: LoadResult) => number) => medianOf(results.map(read));
  return {
    name,
    waiting,
    operationsPerSecond: medianBy(({ operationsPerSecond }) => operationsPerSecond),
    decisionsPerSecond: medianBy(({ decisionsPerSecond }) => decisionsPerSecond),
    latencyMs: {
      p50: medianBy(({ latencyMs }) => latencyMs.p50),
      p99: medianBy(({ latencyMs }) => latencyMs.p99),
    },
  };
}

/** The result of a closed loop. */
interface LoadResult {
  /** Admissions, declines and releases. */
  readonly operationsPerSecond: number;
  /** Admissions and declines only. */
  readonly decisionsPerSecond: number;
  /** Latency of a decision. */
  readonly latencyMs: Percentiles;
}

/** Tokens that a request uses of those admitted. */
const USED_TOKENS = 900;
const STRIDE = 7_919;

/** Admits and settles requests in a closed loop. */
async function runLoad(
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

/** Runs a closed loop of INCR, the cheapest count of Redis. Returns INCRs per second. */
async function runIncr(
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
