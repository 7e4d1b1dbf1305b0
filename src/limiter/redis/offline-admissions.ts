import type { Correction } from "../admission.ts";
import { advance, correct, createWindow, slotsOf, take, type Window } from "../window.ts";
import type { CallerIds } from "./keys.ts";
import { NO_CORRECTION, type OfflineSecond } from "./store.ts";
import { CHUNK_SIZE, chunked } from "./turns.ts";

/** What this process admitted while Redis was away. */
export interface OfflineAdmissions {
  note(request: CallerIds & { readonly tokens: number }): OfflineAdmission;
  /** Tells all of it. Rejects when something does not get through; it is told the next time. */
  tell(restore: Restore): Promise<void>;
  /** Whether more is to be told than goes in one turn. */
  isMuch(): boolean;
}

/** A request that was let in while Redis was away. */
export interface OfflineAdmission {
  /**
   * Changes what it counts for. Returns the change that Redis must still be told, with the second under which
   * it counts there: no change while all of it is yet to be told.
   */
  end(change: Correction): Promise<Correction & { readonly second: number | undefined }>;
}

/** Resolves with the second under which each counts in Redis; the same `id` tells the same again. */
type Restore = (names: CallerIds, id: string, missed: readonly OfflineSecond[]) => Promise<readonly number[]>;

/** One caller's admissions of an absence. */
interface OfflineCaller {
  readonly id: string;
  readonly names: CallerIds;
  readonly window: Window;
  /** The second in Redis by the second here; `undefined` while nothing is told. */
  told: Promise<ReadonlyMap<number, number>> | undefined;
}

const ADDED_PER_LOOK = 1_000;

export function createOfflineAdmissions(clock: () => number): OfflineAdmissions {
  const callers = new Map<string, OfflineCaller>();
  const untold = new Set<OfflineCaller>();
  let added = 0;

  function find(names: CallerIds, nowMs: number): OfflineCaller {
    const name = JSON.stringify([names.accountId, names.keyId]);
    let caller = callers.get(name);
    if (caller) {
      advance(caller.window, nowMs);
      return caller;
    }
    added += 1;
    if (added % ADDED_PER_LOOK === 0) forgetIdle(callers, nowMs);
    caller = { id: crypto.randomUUID(), names, window: createWindow(), told: undefined };
    callers.set(name, caller);
    return caller;
  }

  async function tellCaller(caller: OfflineCaller, restore: Restore): Promise<void> {
    const told = tellWindow(caller, clock(), restore);
    caller.told = told;
    try {
      await told;
      untold.delete(caller);
    } catch (fault) {
      caller.told = undefined;
      throw fault;
    }
  }

  return {
    note({ accountId, keyId, tokens }) {
      const nowMs = clock();
      const caller = find({ accountId, keyId }, nowMs);
      const second = take(caller.window, nowMs, tokens);
      return { end: (change) => changeCaller(caller, second, { change, clock }) };
    },
    async tell(restore) {
      for (const caller of callers.values()) untold.add(caller);
      callers.clear();
      await chunked([...untold], (caller) => tellCaller(caller, restore));
    },
    isMuch: () => untold.size + callers.size > CHUNK_SIZE,
  };
}

function forgetIdle(callers: Map<string, OfflineCaller>, nowMs: number): void {
  for (const [name, { window }] of callers) {
    advance(window, nowMs);
    if (window.requests === 0) callers.delete(name);
  }
}

async function tellWindow({ id, names, window }: OfflineCaller, nowMs: number, restore: Restore) {
  advance(window, nowMs);
  const slots = slotsOf(window);
  if (slots.length === 0) return new Map<number, number>();
  const missed = slots.map(({ requests, tokens, lastMs }) => ({ ageMs: nowMs - lastMs, requests, tokens }));
  const seconds = await restore(names, id, missed);
  return new Map(slots.map(({ second }, index) => [second, seconds[index] ?? 0]));
}

async function changeCaller(
  { told, window }: OfflineCaller,
  second: number,
  { change, clock }: { readonly change: Correction; readonly clock: () => number },
) {
  const seconds = await told?.catch(() => undefined);
  if (seconds === undefined) {
    advance(window, clock());
    correct(window, second, change);
  }
  const toldSecond = seconds?.get(second);
  return toldSecond ? { ...change, second: toldSecond } : NO_CORRECTION;
}
