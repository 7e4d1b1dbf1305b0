import type { Change } from "../admission.ts";
import { advance, correct, createWindow, slotsOf, take, type Window } from "../window.ts";
import type { CallerNames } from "./keys.ts";
import type { Ending, MissedSecond } from "./store.ts";

/** What one shard was not told while it was away, by this process. */
export interface Outage {
  /** Counts a request that was let in without it. */
  note(request: CallerNames & { readonly tokens: number }): MissedAdmission;
  /** Keeps an ending for later. */
  owe(ending: Ending): void;
  /** Tells all of it, in this turn. What does not get through is told the next time. */
  restore(to: OutageListener): void;
}

/** A request that was let in while Redis was away. */
export interface MissedAdmission {
  /**
   * Changes what it counts for. Returns the change that Redis must still be told, with the second under which
   * it counts there: no change while all of it is yet to be told.
   */
  end(change: Change): Promise<Change & { readonly second: number | undefined }>;
}

export interface OutageListener {
  /** Resolves with the second under which each counts in Redis; `undefined` when it did not get through. */
  restore(names: CallerNames, missed: readonly MissedSecond[]): Promise<readonly number[] | undefined>;
  settle(ending: Ending): void;
}

/** One caller's admissions of an absence. */
interface Missed {
  readonly names: CallerNames;
  readonly window: Window;
  /** The second in Redis by the second here; `undefined` while it is not told, or when that did not get through. */
  told: Promise<ReadonlyMap<number, number> | undefined> | undefined;
}

interface Owed {
  readonly ending: Ending;
  readonly atMs: number;
}

/** As long as a lease lives without renewal: what ended longer ago has ended in Redis by itself. */
const OWED_MS = 30_000;
/** So many are added between two looks for what is over. */
const CALLS_PER_LOOK = 1_000;

export function createOutage(clock: () => number): Outage {
  const callers = new Map<string, Missed>();
  let untold: Missed[] = [];
  let owed: Owed[] = [];
  let found = 0;

  function find(names: CallerNames, nowMs: number): Missed {
    const name = JSON.stringify([names.accountId, names.keyId]);
    let missed = callers.get(name);
    if (missed) {
      advance(missed.window, nowMs);
      return missed;
    }
    found += 1;
    if (found % CALLS_PER_LOOK === 0) forgetIdle(callers, nowMs);
    missed = { names, window: createWindow(), told: undefined };
    callers.set(name, missed);
    return missed;
  }

  async function tell(missed: Missed, nowMs: number, to: OutageListener): Promise<void> {
    missed.told = tellWindow(missed, nowMs, to);
    if ((await missed.told) === undefined) untold.push(missed);
  }

  return {
    note({ accountId, keyId, tokens }) {
      const nowMs = clock();
      const missed = find({ accountId, keyId }, nowMs);
      const second = take(missed.window, nowMs, tokens);
      return { end: (change) => changeMissed(missed, second, { change, clock }) };
    },
    owe(ending) {
      const atMs = clock();
      if (owed.length % CALLS_PER_LOOK === 0) owed = owed.filter((each) => isOwed(each, atMs));
      owed.push({ ending, atMs });
    },
    restore(to) {
      const nowMs = clock();
      const all = [...untold, ...callers.values()];
      const endings = owed.filter((each) => isOwed(each, nowMs));
      untold = [];
      owed = [];
      callers.clear();
      for (const missed of all) void tell(missed, nowMs, to);
      for (const { ending } of endings) to.settle(ending);
    },
  };
}

function isOwed({ atMs }: Owed, nowMs: number): boolean {
  return nowMs - atMs < OWED_MS;
}

function forgetIdle(callers: Map<string, Missed>, nowMs: number): void {
  for (const [name, { window }] of callers) {
    advance(window, nowMs);
    if (window.requests === 0) callers.delete(name);
  }
}

async function tellWindow({ names, window }: Missed, nowMs: number, to: OutageListener) {
  advance(window, nowMs);
  const slots = slotsOf(window);
  if (slots.length === 0) return new Map<number, number>();
  const missed = slots.map(({ requests, tokens, lastMs }) => ({ ageMs: nowMs - lastMs, requests, tokens }));
  const seconds = await to.restore(names, missed);
  return seconds && new Map(slots.map(({ second }, index) => [second, seconds[index] ?? 0]));
}

async function changeMissed(
  missed: Missed,
  second: number,
  { change, clock }: { readonly change: Change; readonly clock: () => number },
) {
  const seconds = await missed.told;
  if (seconds === undefined) {
    advance(missed.window, clock());
    correct(missed.window, second, change);
  }
  const toldSecond = seconds?.get(second);
  return toldSecond ? { ...change, second: toldSecond } : NO_CHANGE;
}

const NO_CHANGE = { requests: 0, tokens: 0, second: undefined };
