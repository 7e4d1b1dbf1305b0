import { heapStats } from "bun:jsc";
import type { Limiter } from "../../../src/limiter/limiter.ts";
import { createMemoryLimiter } from "../../../src/limiter/memory.ts";
import { keysOf } from "../../../src/limiter/redis/scripts.ts";
import { requestOf, TOKENS, WIDE } from "./admission-load.ts";
import type { Contestants } from "./contestants.ts";

/** Bytes in Redis per caller, with N requests per minute. */
export interface StoredBytes {
  readonly limit: number;
  /** The larger window of the key and the account. */
  readonly window: number;
  /** Per running request, of a thousand. */
  readonly lease: number;
}

const LIMITS = [10, 10_000, 1_000_000_000];
const CLOCK = "bench:clock";
const CLOCK_LUA = `local function clock_ms() return tonumber(call('GET', '${CLOCK}')) end`;
/** More than the seconds of the ring. */
const SECONDS = 70;
const PER_SECOND = 20;
const RUNNING = 1_000;

/** Advances a clock of its own by more than a minute, with admissions in every second. */
export async function measureStoredBytes(contestants: Contestants): Promise<readonly StoredBytes[]> {
  const setNow = (ms: number) => contestants.server.ask("SET", CLOCK, ms);
  await setNow(0);
  const limiter = await contestants.openClocked(CLOCK_LUA);
  const results: StoredBytes[] = [];
  let nowMs = Date.now();
  for (const limit of LIMITS) {
    const limits = { ...WIDE, requestsPerMinute: limit };
    const request = requestOf({ keyLimits: limits, accountLimits: limits });
    for (let second = 0; second < SECONDS; second += 1) {
      nowMs += 1_000;
      await setNow(nowMs);
      await Promise.all(Array.from({ length: PER_SECOND }, () => admitAndSettle(limiter, request)));
    }
    const [keyWindow = "", , accountWindow = ""] = keysOf(request);
    const windows = await Promise.all([keyWindow, accountWindow].map(bytesOf(contestants)));
    results.push({ limit, window: Math.max(...windows), lease: await leaseBytes(contestants, limiter) });
  }
  limiter.close();
  return results;
}

async function admitAndSettle(limiter: Limiter, request: ReturnType<typeof requestOf>): Promise<void> {
  const decision = await limiter.admit(request);
  if (decision.admitted) await decision.settle(TOKENS / 2);
}

async function leaseBytes(contestants: Contestants, limiter: Limiter): Promise<number> {
  const request = requestOf();
  await Promise.all(Array.from({ length: RUNNING }, () => limiter.admit(request)));
  const [, leases = ""] = keysOf(request);
  return (await bytesOf(contestants)(leases)) / RUNNING;
}

function bytesOf({ server }: Contestants): (key: string) => Promise<number> {
  return async (key) => {
    const bytes = await server.ask("MEMORY", "USAGE", key, "SAMPLES", 0);
    if (typeof bytes !== "number") throw new Error(`Redis keeps nothing under ${key}`);
    return bytes;
  };
}

const CALLERS = 20_000;

/** Measures heap bytes per caller of the in-process limiter. */
export async function measureHeapBytes(): Promise<number> {
  const limiter = createMemoryLimiter();
  const before = heapBytes();
  // Each request has two callers, a key and an account.
  for (let index = 0; index < CALLERS / 2; index += 1) await admitAndSettle(limiter, requestOf());
  const after = heapBytes();
  // Keeps the limiter alive until here.
  limiter.close();
  return (after - before) / CALLERS;
}

function heapBytes(): number {
  Bun.gc(true);
  const { heapSize, extraMemorySize } = heapStats();
  return heapSize + extraMemorySize;
}
