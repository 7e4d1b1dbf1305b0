import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { HOUR_MS } from "../../src/domain/id-time.ts";
import { readDay, readHours } from "../../src/usage/route-figures.ts";
import { RouteHours, sumRoutes } from "../../src/usage/route-hours.ts";
import { DIALECTS, openTempStorage, type TempStorage } from "../accounts/temp-storage.ts";
import { createCapturedLog } from "../support/captured-log.ts";

const ROUTE = { model: "chat", upstream: "one", upstreamModel: "chat-1" };
const MODEL = { model: "chat", upstream: "", upstreamModel: "" };

describe.each(DIALECTS)("the figures of routes in %s", (dialect) => {
  let storage: TempStorage;
  const started: RouteHours[] = [];
  beforeEach(async () => {
    storage = await openTempStorage(dialect);
  });
  afterEach(async () => {
    for (const each of started.splice(0)) await each.close();
    await storage.close();
  });

  const start = () => {
    const { database, now } = storage;
    const counts = new RouteHours({ database, now, log: createCapturedLog(), flushMs: HOUR_MS });
    started.push(counts);
    return counts;
  };
  const end = (counts: RouteHours, name = ROUTE, outcome = "ok", firstOutputMs?: number) =>
    counts.ended(name, { outcome, firstOutputMs });
  const sums = (byHour = false) => sumRoutes(storage.database, { fromMs: 0, byHour });

  test("add up what several gateways count at once, in whatever order they met the routes", async () => {
    const gateways = [start(), start(), start()];
    const routes = Array.from({ length: 60 }, (_, index) => ({ ...ROUTE, upstream: `u${index}` }));
    for (const [turn, each] of gateways.entries()) {
      for (const route of turn === 1 ? routes.toReversed() : routes) end(each, route, "ok", 120);
    }
    await Promise.all(gateways.map((each) => each.flush()));
    end(gateways[0] ?? start(), routes[0], "upstream_timeout");
    await gateways[0]?.flush();
    const found = await sums();
    expect(found).toHaveLength(60);
    expect(found.every(({ answered, firstOutputMs }) => answered === 3 && firstOutputMs[2] === 3)).toBe(true);
    expect(found.reduce((sum, { failed }) => sum + failed, 0)).toBe(1);
  });

  test("count neither what a client ended nor what the request was refused for", async () => {
    const counts = start();
    for (const outcome of ["client_closed", "invalid_request", "insufficient_balance", "internal_error"]) {
      end(counts, ROUTE, outcome, 10);
    }
    await counts.flush();
    expect(await sums()).toEqual([]);
  });

  test("keep what a failed write did not take, and write it once", async () => {
    const { database } = storage;
    let isAway = true;
    const transact: typeof database.transact = (work) =>
      isAway ? Promise.reject(new Error("The database is away")) : database.transact(work);
    const { now } = storage;
    const counts = new RouteHours({ database: { ...database, transact }, now, log: createCapturedLog() });
    started.push(counts);
    end(counts, ROUTE, "ok", 90_000);
    expect(counts.flush()).rejects.toThrow("away");
    end(counts, ROUTE, "ok", 50);
    isAway = false;
    await counts.flush();
    await counts.flush();
    const [sum] = await sums();
    expect(sum).toMatchObject({ ...ROUTE, answered: 2, failed: 0 });
    expect([sum?.firstOutputMs[0], sum?.firstOutputMs.at(-1)]).toEqual([1, 1]);
  });

  test("are of 24 hours, each with its own numbers, and older hours are deleted", async () => {
    const counts = start();
    const { clock } = storage;
    const firstMs = clock.nowMs;
    for (let hour = 0; hour < 60; hour += 1) {
      for (let each = 0; each <= hour % 3; each += 1) end(counts, ROUTE, "ok", 400);
      if (hour === 59) end(counts, ROUTE, "upstream_unavailable");
      await counts.flush();
      clock.nowMs += hour < 59 ? HOUR_MS : 0;
    }
    expect(await sums(true)).toHaveLength(49);
    const day = await readDay(storage);
    expect(day.ofRoute(ROUTE)).toMatchObject({ answered: 48, failed: 1, success: 48 / 49 });
    expect(day.ofRoute({ ...ROUTE, upstream: "unknown" }).success).toBeUndefined();
    const hours = (await readHours(storage, "chat"))(ROUTE);
    expect(hours.map(({ startMs }) => (startMs - firstMs) / HOUR_MS)).toEqual(
      Array.from({ length: 24 }, (_, hour) => 36 + hour),
    );
    expect(hours.slice(0, 3).map(({ answered }) => answered)).toEqual([1, 2, 3]);
    expect(hours.at(-1)).toMatchObject({ answered: 3, failed: 1, firstOutput: { p50: 350 } });
  });

  test("of a model are shown from 50 requests on, in whole percent and two digits", async () => {
    const counts = start();
    for (let each = 0; each < 49; each += 1) end(counts, MODEL, "ok", 1_234);
    await counts.flush();
    expect((await readDay(storage)).ofModel("chat")).toBeUndefined();
    end(counts, MODEL, "upstream_unavailable");
    await counts.flush();
    expect((await readDay(storage)).ofModel("chat")).toEqual({ success: 0.98, firstOutput: undefined });
    for (let each = 0; each < 250; each += 1) end(counts, MODEL, "ok", 1_234);
    await counts.flush();
    // 299 of 300 are no 100 %.
    const shown = (await readDay(storage)).ofModel("chat");
    expect(shown).toEqual({ success: 0.99, firstOutput: { p50: 1_300, p95: 1_500 } });
  });
});
