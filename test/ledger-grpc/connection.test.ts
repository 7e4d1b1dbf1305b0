import { afterEach, beforeEach, expect, test } from "bun:test";
import { createConnection } from "../../src/ledger-grpc/client/connection.ts";
import type { Link, LinkEvents } from "../../src/ledger-grpc/client/link.ts";
import { LedgerLinkError } from "../../src/ledger-grpc/client/link-error.ts";
import { platform } from "../../src/platform.ts";

const own = { ...platform };
/** Timers that have not run, by their clock readings. */
let timers: Map<symbol, { readonly atMs: number; readonly run: () => unknown }>;
let nowMs: number;
/** Clock readings of the connection attempts. */
let attempts: number[];

beforeEach(() => {
  timers = new Map();
  nowMs = 0;
  attempts = [];
  const setTimeout = (run: () => unknown, ms: number) => {
    const timer = Symbol();
    timers.set(timer, { atMs: nowMs + ms, run });
    // Only this test's own clearTimeout reads it.
    return timer as unknown as Timer;
  };
  const clearTimeout = (timer: unknown) => void timers.delete(timer as symbol);
  Object.assign(platform, { setTimeout, clearTimeout, monotonicMs: () => nowMs, random: () => 0.5 });
});
afterEach(() => void Object.assign(platform, own));

/** Runs timers in the order of their times until there have been this many connection attempts. */
function runUntil(count: number): readonly number[] {
  while (attempts.length < count) {
    const [timer, next] = [...timers].toSorted(([, one], [, other]) => one.atMs - other.atMs)[0] ?? [];
    if (!timer || !next) throw new Error("No timer is left");
    timers.delete(timer);
    nowMs = next.atMs;
    next.run();
  }
  return attempts.map((atMs, place) => atMs - (attempts[place - 1] ?? 0)).slice(1);
}

/** A server that refuses every connection, later. */
function openRefused({ onEnd }: Pick<LinkEvents, "onEnd">): Link {
  attempts.push(nowMs);
  platform.setTimeout(() => onEnd(new LedgerLinkError("lost")), 0);
  return { send: () => true, call: () => Promise.reject(new LedgerLinkError("lost")), drop: onEnd };
}

test("a client pauses up to 200 ms between connection attempts, and a second once the ledger is away", async () => {
  const nothing = () => undefined;
  const away: number[] = [];
  const events = { onUp: nothing, onAnswer: nothing, onLost: nothing, onAway: () => away.push(nowMs) };
  const connection = createConnection(openRefused, events, { connectMaxMs: 1_000, outageMaxMs: 600 });
  const refused = connection.whenUp().catch(({ code }: LedgerLinkError) => code);
  expect(runUntil(10)).toEqual([50, 100, 200, 200, 200, 400, 800, 1_000, 1_000]);
  expect(away).toEqual([600]);
  expect(await refused).toBe("lost");
  connection.close();
});
