import { platform } from "../../platform.ts";
import type { Correction } from "../limiter.ts";
import { advance, correct, createWindow, slotsOf, take, type Window } from "../window.ts";
import { NO_CORRECTION } from "./batch.ts";
import { type CallerIds, CHUNK_SIZE, chunked } from "./scripts.ts";
import type { OfflineSecond } from "./store.ts";

/** Admissions that this process made while a shard was down. */
export interface OfflineAdmissions {
  record(request: CallerIds & { readonly tokens: number }): OfflineAdmission;
  /** Sends all admissions, by caller. Rejects when a caller fails; the next call sends that caller again. */
  restore(restore: Restore): Promise<void>;
  /** Whether more callers are unsent than fit in one chunk. */
  exceedsChunk(): boolean;
}

/** A request admitted while its shard was down. */
export interface OfflineAdmission {
  /**
   * Corrects its counts. Returns the correction that Redis still needs, with the admission's second in Redis.
   * Nothing is left to correct in Redis while the admission itself is unsent.
   */
  end(correction: Correction): Promise<Correction & { readonly second: number | undefined }>;
}

/** Resolves with each admission's second in Redis. A repeated call with one `id` counts once. */
type Restore = (ids: CallerIds, id: string, seconds: readonly OfflineSecond[]) => Promise<readonly number[]>;

/** One caller's admissions of one outage. */
interface OfflineCaller {
  readonly id: string;
  readonly ids: CallerIds;
  readonly window: Window;
  /** Seconds in Redis by local seconds; `undefined` before the caller is sent. */
  restored: Promise<ReadonlyMap<number, number>> | undefined;
}

/** Callers without admissions are removed once per this many additions. */
const ADDED_PER_SWEEP = 1_000;

export function createOfflineAdmissions(clock: () => number): OfflineAdmissions {
  const callers = new Map<string, OfflineCaller>();
  const unsent = new Set<OfflineCaller>();
  let added = 0;

  function find(ids: CallerIds, nowMs: number): OfflineCaller {
    const name = JSON.stringify([ids.accountId, ids.keyId]);
    let caller = callers.get(name);
    if (caller) {
      advance(caller.window, nowMs);
      return caller;
    }
    added += 1;
    if (added % ADDED_PER_SWEEP === 0) removeIdle(callers, nowMs);
    caller = { id: platform.uuid(), ids, window: createWindow(), restored: undefined };
    callers.set(name, caller);
    return caller;
  }

  async function send(caller: OfflineCaller, restore: Restore): Promise<void> {
    const restored = restoreWindow(caller, clock(), restore);
    caller.restored = restored;
    try {
      await restored;
      unsent.delete(caller);
    } catch (fault) {
      caller.restored = undefined;
      throw fault;
    }
  }

  return {
    record({ accountId, keyId, tokens }) {
      const nowMs = clock();
      const caller = find({ accountId, keyId }, nowMs);
      const second = take(caller.window, nowMs, tokens);
      return { end: (correction) => endAdmission(caller, second, { correction, clock }) };
    },
    async restore(restore) {
      for (const caller of callers.values()) unsent.add(caller);
      callers.clear();
      await chunked([...unsent], (caller) => send(caller, restore));
    },
    exceedsChunk: () => unsent.size + callers.size > CHUNK_SIZE,
  };
}

function removeIdle(callers: Map<string, OfflineCaller>, nowMs: number): void {
  for (const [name, { window }] of callers) {
    advance(window, nowMs);
    if (window.requests === 0) callers.delete(name);
  }
}

async function restoreWindow({ id, ids, window }: OfflineCaller, nowMs: number, restore: Restore) {
  advance(window, nowMs);
  const slots = slotsOf(window);
  if (slots.length === 0) return new Map<number, number>();
  const offline = slots.map(({ requests, tokens, lastMs }) => ({ ageMs: nowMs - lastMs, requests, tokens }));
  const seconds = await restore(ids, id, offline);
  return new Map(slots.map(({ second }, index) => [second, seconds[index] ?? 0]));
}

async function endAdmission(
  { restored, window }: OfflineCaller,
  second: number,
  { correction, clock }: { readonly correction: Correction; readonly clock: () => number },
) {
  const seconds = await restored?.catch(() => undefined);
  if (seconds === undefined) {
    advance(window, clock());
    correct(window, second, correction);
  }
  const secondInRedis = seconds?.get(second);
  return secondInRedis ? { ...correction, second: secondInRedis } : NO_CORRECTION;
}
