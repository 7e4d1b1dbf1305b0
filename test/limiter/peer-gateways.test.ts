import { Database as SqliteFile } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import { connectDatabase, type Database } from "../../src/db/database.ts";
import { openGatewayRows } from "../../src/db/gateways.ts";
import type { DatabaseLocation } from "../../src/db/location.ts";
import { watchPeerGateways } from "../../src/limiter/peer-gateways.ts";
import { createMetrics } from "../../src/telemetry/metrics.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { createTestDatabase } from "../support/test-database.ts";
import { until } from "../support/until.ts";
import { readSamples } from "../telemetry/samples.ts";

/** A busy machine holds no heartbeat up for as long as a gateway may miss them. */
const STEADY = { intervalMs: 100, goneMs: 60_000 };
const APART =
  '{"level":"warn","gateways":2,"event":"gateways count limits separately: set REDIS_URL on each"}';
const TOGETHER = '{"level":"info","event":"limits are counted in one place again"}';

interface Place {
  readonly location: DatabaseLocation;
  drop(): Promise<void> | void;
}

function sqlitePlace(): Place {
  const folder = tempFolder();
  const path = join(folder, "tollgate.db");
  return { location: { dialect: "sqlite", path }, drop: () => rmSync(folder, { recursive: true }) };
}

async function postgresPlace(): Promise<Place> {
  const { url, drop } = await createTestDatabase();
  return { location: { dialect: "postgres", url }, drop };
}

/** A gateway as its peers see it. */
interface Watcher {
  readonly id: string;
  readonly database: Database;
  log(): string;
  /** Returns the value of its metric. */
  count(): Promise<number | undefined>;
  /** The gateways on Redis, as this one has found them. */
  onRedis(): number;
  /** Resolves when the metric has this value. */
  counts(count: number): Promise<void>;
  close(): Promise<void>;
}

async function startWatcher(
  location: DatabaseLocation,
  { hasRedis = false } = {},
  timing: { readonly intervalMs: number; readonly goneMs?: number } = STEADY,
): Promise<Watcher> {
  const database = await connectDatabase(location);
  const log = createCapturedLog();
  const metrics = createMetrics();
  const id = crypto.randomUUID();
  const watch = watchPeerGateways({
    ...{ database, gatewayId: id, hasRedis, log, metrics: metrics.limiter, ...timing },
  });
  const count = async () => readSamples(await metrics.print()).get("tollgate_limiter_gateways");
  return {
    id,
    database,
    log: log.text,
    count,
    onRedis: watch.onRedis,
    counts: (expected) => until(async () => (await count()) === expected),
    close: async () => {
      await watch.close();
      await database.close();
    },
  };
}

async function idsIn(database: Database): Promise<readonly string[]> {
  return (await database.db.select().from(database.tables.gateways)).map(({ id }) => id);
}

/** Makes the row of a gateway look as if its last heartbeat was long ago. */
async function ageRow({ db, tables: { gateways } }: Database, id: string): Promise<void> {
  await db.update(gateways).set({ seenAtMs: 1 }).where(eq(gateways.id, id));
}

describe.each([
  ["SQLite", sqlitePlace],
  ["PostgreSQL", postgresPlace],
])("gateways on one database of %s", (_, createPlace) => {
  let place: Place;
  let first: Watcher;

  beforeEach(async () => {
    place = await createPlace();
    first = await startWatcher(place.location);
    await first.counts(1);
  });

  afterEach(async () => {
    await first.close();
    await place.drop();
  });

  test("log once that they count limits separately, and once that they no longer do", async () => {
    const second = await startWatcher(place.location);
    await Promise.all([first.counts(2), second.counts(2)]);
    const third = await startWatcher(place.location);
    await Promise.all([first.counts(3), second.counts(3), third.counts(3)]);
    await third.close();
    await Promise.all([first.counts(2), second.counts(2)]);
    await second.close();
    await first.counts(1);
    expect(second.log()).toBe(APART);
    expect(third.log()).toMatch(/^\{"level":"warn","gateways":[23],"event":"gateways count [^\n]*$/);
    expect(first.log()).toBe(`${APART}\n${TOGETHER}`);
  });

  test("know how many of them are on Redis, also while the database is away", async () => {
    const shared = await Promise.all([1, 2].map(() => startWatcher(place.location, { hasRedis: true })));
    const [one, other] = shared as [Watcher, Watcher];
    await until(() => one.onRedis() === 2 && other.onRedis() === 2);
    await one.database.close();
    await Bun.sleep(5 * STEADY.intervalMs);
    expect(one.onRedis()).toBe(2);
    await one.close();
    await ageRow(first.database, one.id);
    await until(() => other.onRedis() === 1);
    await other.close();
  });

  test("remove their rows when they are closed", async () => {
    const second = await startWatcher(place.location);
    await first.counts(2);
    await second.close();
    expect(await idsIn(first.database)).toEqual([first.id]);
  });

  test("drop a killed gateway after three missed heartbeats", async () => {
    const own = await createPlace();
    const intervalMs = 500;
    const left = await startWatcher(own.location, {}, { intervalMs });
    const rows = openGatewayRows(left.database);
    let isBeating = true;
    let beatAtMs = 0;
    const beating = (async () => {
      while (isBeating) {
        beatAtMs = performance.now();
        await rows.renew({ id: "killed", hasRedis: false }, STEADY.goneMs);
        await Bun.sleep(STEADY.intervalMs);
      }
    })();
    await left.counts(2);
    isBeating = false;
    await beating;
    await left.counts(1);
    expect(performance.now() - beatAtMs).toBeGreaterThan(2.9 * intervalMs);
    expect(await idsIn(left.database)).toEqual([left.id]);
    expect(left.log()).toEndWith(`${APART}\n${TOGETHER}`);
    rows.close();
    await left.close();
    await own.drop();
  });

  test("ignore the row of a killed process", async () => {
    const rows = openGatewayRows(first.database);
    await rows.renew({ id: "killed", hasRedis: false }, 60_000);
    const restarted = await startWatcher(place.location);
    await Promise.all([first.counts(2), restarted.counts(2)]);
    await ageRow(first.database, "killed");
    await until(async () => !(await idsIn(first.database)).includes("killed"));
    expect([first.log(), restarted.log()]).toEqual([APART, APART]);
    await restarted.close();
    rows.close();
  });

  test("are counted once for Redis, and once for each gateway without Redis", async () => {
    const sharing = [
      await startWatcher(place.location, { hasRedis: true }),
      await startWatcher(place.location, { hasRedis: true }),
    ];
    await Promise.all([first, ...sharing].map(({ counts }) => counts(2)));
    expect([first, ...sharing].map(({ log }) => log())).toEqual([APART, APART, APART]);
    const [one, other] = sharing;
    await one?.close();
    await other?.close();
  });
});

test("gateways that all count in Redis log nothing", async () => {
  const place = sqlitePlace();
  const one = await startWatcher(place.location, { hasRedis: true });
  const other = await startWatcher(place.location, { hasRedis: true });
  const rows = openGatewayRows(one.database);
  // Waits until each has renewed its row twice after both were present.
  const seen = await rows.renew({ id: "observer", hasRedis: true }, 60_000);
  for (let beats = 0; beats < 2; beats++) await until(() => haveBeatenSince(one.database, seen));
  expect([await one.count(), await other.count()]).toEqual([1, 1]);
  expect([one.log(), other.log()]).toEqual(["", ""]);
  await Promise.all([one.close(), other.close()]);
  rows.close();
  await place.drop();
});

async function haveBeatenSince(
  { db, tables: { gateways } }: Database,
  seen: readonly { readonly id: string; readonly seenAtMs: number }[],
): Promise<boolean> {
  const now = new Map((await db.select().from(gateways)).map(({ id, seenAtMs }) => [id, seenAtMs]));
  return seen.every(({ id, seenAtMs }) => id === "observer" || (now.get(id) ?? 0) > seenAtMs);
}

test("a SQLite file locked by another process does not block the event loop, and heartbeats resume afterwards", async () => {
  const place = sqlitePlace();
  const first = await startWatcher(place.location);
  await first.counts(1);
  const busy = new SqliteFile(first.database.dialect === "sqlite" ? first.database.sqlite.path : "");
  busy.run("BEGIN IMMEDIATE");
  // A locked file would stop each period with a heartbeat in it; a busy machine may stop one of them.
  const stalls: number[] = [];
  for (let period = 0; period < 3; period += 1) stalls.push(await longestStall(500));
  expect(Math.min(...stalls)).toBeLessThan(1_000);
  await until(() => first.log() !== "");
  expect(first.log()).toMatch(/^\{"level":"warn",[^\n]*"event":"peer gateway lookup failed"\}$/);
  busy.run("ROLLBACK");
  const second = await startWatcher(place.location);
  await Promise.all([first.counts(2), second.counts(2)]);
  await Promise.all([first.close(), second.close()]);
  busy.close();
  await place.drop();
});

/** Returns the longest stall of the event loop within `ms`. */
async function longestStall(ms: number): Promise<number> {
  const endMs = performance.now() + ms;
  let [lastMs, longestMs] = [performance.now(), 0];
  while (lastMs < endMs) {
    await Bun.sleep(5);
    const nowMs = performance.now();
    longestMs = Math.max(longestMs, nowMs - lastMs);
    lastMs = nowMs;
  }
  return longestMs;
}

test("a lost database is logged once and does not delay close", async () => {
  const place = await postgresPlace();
  const only = await startWatcher(place.location);
  await only.counts(1);
  await place.drop();
  await until(() => only.log() !== "");
  await Bun.sleep(5 * STEADY.intervalMs);
  const logged = only.log();
  expect(logged).toMatch(/^\{"level":"warn",[^\n]*"event":"peer gateway lookup failed"\}$/);
  expect(logged).not.toMatch(/INSERT|insert|postgres:\/\//);
  const closingAtMs = performance.now();
  await only.close();
  expect(performance.now() - closingAtMs).toBeLessThan(60_000);
});
