import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { findRefusal, listRefusals, sumRefusals } from "../../src/refusals/reads.ts";
import { startRefusalRecorder, sweepRefusals } from "../../src/refusals/recorder.ts";
import { MINUTE_MS, type Refusal } from "../../src/refusals/refusal.ts";
import { DIALECTS, openTempStorage, type TempStorage } from "../accounts/temp-storage.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { until } from "../support/until.ts";

const MONEY = { needed: 5n, available: 2n, unheld: 4_000_000_000_000_000_000n };

describe.each(DIALECTS)("refused requests in %s", (dialect) => {
  let storage: TempStorage;
  const log = createCapturedLog();
  const recorders: { close(): Promise<void> }[] = [];
  beforeEach(async () => {
    storage = await openTempStorage(dialect);
  });
  afterEach(async () => {
    for (const recorder of recorders.splice(0)) await recorder.close();
    await storage.close();
  });

  const start = (more: { rowsMax?: number; flushMs?: number } = {}) => {
    const recorder = startRefusalRecorder({
      database: storage.database,
      log,
      now: storage.now,
      flushMs: 3_600_000,
      ...more,
    });
    recorders.push(recorder);
    return recorder;
  };
  const refusal = (more: Partial<Refusal> = {}): Refusal => ({
    requestId: Bun.randomUUIDv7("hex", storage.clock.nowMs),
    accountId: "a",
    keyId: "k",
    cause: "wallet_empty",
    model: "chat",
    requestedModel: "chat",
    surface: "chat",
    text: undefined,
    retryAfterS: undefined,
    facts: { money: MONEY },
    ...more,
  });
  const all = () => ({ accountId: "a", fromMs: 0, toMs: storage.clock.nowMs + MINUTE_MS });
  const list = (size = 100) => listRefusals(storage.database, all(), { size, after: undefined });
  const find = (id: string, accountId: string | undefined = "a") =>
    findRefusal(storage.database, id, accountId);

  test("are counted by key, cause, model and minute, with the numbers of the last", async () => {
    const recorder = start();
    const first = refusal();
    const last = refusal({ facts: { money: { ...MONEY, needed: 7n } } });
    for (const each of [first, last, refusal({ keyId: "l" }), refusal({ cause: "rate_limited" })]) {
      recorder.note(each);
    }
    await recorder.flush();
    const rows = await list();
    expect(rows.map(({ keyId, cause, count }) => [keyId, cause, count])).toEqual([
      ["l", "wallet_empty", 1],
      ["k", "wallet_empty", 2],
      ["k", "rate_limited", 1],
    ]);
    expect(rows[1]?.last).toMatchObject({
      id: last.requestId,
      money: { needed: "7", available: "2", unheld: "4000000000000000000" },
    });
    expect(
      await listRefusals(storage.database, { ...all(), accountId: "b" }, { size: 9, after: undefined }),
    ).toEqual([]);
  });

  test("of one minute are added up over several writes", async () => {
    const recorder = start();
    for (let flush = 0; flush < 3; flush += 1) {
      recorder.note(refusal());
      recorder.note(refusal());
      await recorder.flush();
      await recorder.flush();
    }
    expect((await list()).map(({ count }) => count)).toEqual([6]);
  });

  test("of two gateways are counted together, each in rows of its own", async () => {
    const [one, other] = [start(), start()];
    await Promise.all(
      [one, other].map(async (recorder) => {
        for (let count = 0; count < 20; count += 1) {
          recorder.note(refusal());
          await recorder.flush();
        }
      }),
    );
    expect((await list()).map(({ count }) => count)).toEqual([40]);
    const { db, tables } = storage.database;
    expect(await db.select().from(tables.refusedRequests)).toHaveLength(2);
  });

  test("that come while rows are written are in the next write", async () => {
    const recorder = start();
    recorder.note(refusal());
    const flushed = recorder.flush();
    for (let count = 0; count < 9; count += 1) recorder.note(refusal());
    await flushed;
    await recorder.flush();
    expect((await list()).map(({ count }) => count)).toEqual([10]);
  });

  test("keep their counts when the clock goes back", async () => {
    const recorder = start();
    recorder.note(refusal());
    await recorder.flush();
    storage.clock.nowMs += 3_600_000;
    recorder.note(refusal());
    await recorder.flush();
    storage.clock.nowMs -= 3_600_000;
    recorder.note(refusal());
    await recorder.flush();
    storage.clock.nowMs += 3_600_000;
    expect((await list()).map(({ count }) => count)).toEqual([1, 2]);
  });

  test("use bounded memory: above the bound new rows are not counted, and the log says so", async () => {
    const recorder = start({ rowsMax: 20 });
    for (let key = 0; key < 1_000; key += 1) recorder.note(refusal({ keyId: `key-${key % 20}` }));
    await recorder.flush();
    const counts = (await list()).map(({ count }) => count);
    expect(counts).toHaveLength(10);
    expect(counts.every((count) => count === 50)).toBe(true);
    expect(log.text()).toContain("refused requests not counted");
    storage.clock.nowMs += MINUTE_MS;
    await recorder.flush();
    recorder.note(refusal({ keyId: "later" }));
    await recorder.flush();
    expect(await list()).toHaveLength(11);
  });

  test("of an account that fills the memory leave room for those of another", async () => {
    const recorder = start({ rowsMax: 20 });
    for (let key = 0; key < 100; key += 1) recorder.note(refusal({ accountId: "b", keyId: `key-${key}` }));
    for (let key = 0; key < 5; key += 1) recorder.note(refusal({ keyId: `own-${key}` }));
    await recorder.flush();
    expect(await list()).toHaveLength(5);
  });

  test("of an account beyond 100 keys, causes and models at once are added up by cause", async () => {
    const recorder = start();
    const refusals = Array.from({ length: 300 }, (_, key) => refusal({ keyId: `key-${key}` }));
    for (const each of refusals) recorder.note(each);
    recorder.note(refusal({ keyId: "key-7" }));
    recorder.note(refusal({ keyId: "late", cause: "rate_limited" }));
    recorder.note(refusal({ accountId: "b", keyId: "other" }));
    await recorder.flush();
    const rows = await list(200);
    const several = rows.filter(({ keyId }) => keyId === "");
    expect(several.map(({ cause, model, count }) => [cause, model, count])).toEqual([
      ["wallet_empty", "", 200],
      ["rate_limited", "", 1],
    ]);
    expect(rows).toHaveLength(102);
    expect(rows.find(({ keyId }) => keyId === "key-7")?.count).toBe(2);
    expect(await find(refusals[299]?.requestId ?? "")).toMatchObject({
      isExact: true,
      row: { keyId: "key-299", count: 200 },
    });
    storage.clock.nowMs += MINUTE_MS;
    await recorder.flush();
    recorder.note(refusal({ keyId: "later" }));
    await recorder.flush();
    expect((await list(200))[0]).toMatchObject({ keyId: "later", count: 1 });
  });

  test("are written when the recorder closes, and by themselves", async () => {
    const recorder = start();
    recorder.note(refusal());
    await recorder.close();
    expect(await list()).toHaveLength(1);
    const timed = start({ flushMs: 5 });
    timed.note(refusal({ keyId: "timed" }));
    await until(async () => (await list()).length >= 2);
    expect(await list()).toHaveLength(2);
  });

  test("are found by the ids of the latest 8, and by another id as the nearest of its minute", async () => {
    const recorder = start();
    const refusals = Array.from({ length: 12 }, () => {
      storage.clock.nowMs += 100;
      const each = refusal();
      recorder.note(each);
      return each.requestId;
    });
    await recorder.flush();
    expect(await find(refusals[11] ?? "")).toMatchObject({ isExact: true, request: { id: refusals[11] } });
    expect(await find(refusals[4] ?? "")).toMatchObject({ isExact: true, request: { id: refusals[4] } });
    const early = await find(refusals[0] ?? "");
    expect(early).toMatchObject({ isExact: false, request: { id: refusals[4] }, row: { count: 12 } });
    expect(await find(refusals[0] ?? "", "b")).toBeUndefined();
    expect(await find(refusals[11] ?? "", "b")).toBeUndefined();
    expect(await findRefusal(storage.database, refusals[11] ?? "", undefined)).toMatchObject({
      accountId: "a",
    });
    expect(await findRefusal(storage.database, refusals[0] ?? "", undefined)).toBeUndefined();
  });

  test("are not found by an id of their minute when all of its requests are known", async () => {
    const recorder = start();
    recorder.note(refusal());
    await recorder.flush();
    for (const id of [refusal().requestId, "nonsense", "", "%", crypto.randomUUID()]) {
      expect(await find(id)).toBeUndefined();
    }
  });

  test("are found by the id of a request whose body took minutes to arrive", async () => {
    const recorder = start();
    const slow = refusal();
    storage.clock.nowMs += 3 * MINUTE_MS;
    recorder.note(slow);
    await recorder.flush();
    expect(await find(slow.requestId)).toMatchObject({ isExact: true });
  });

  test("are listed page by page without gaps and repetitions", async () => {
    const recorder = start();
    for (let minute = 0; minute < 3; minute += 1) {
      for (const keyId of ["k", "l", "m"]) {
        for (const cause of ["rate_limited", "wallet_empty"] as const) {
          for (const model of ["chat", undefined]) recorder.note(refusal({ keyId, cause, model }));
        }
      }
      storage.clock.nowMs += MINUTE_MS;
    }
    await recorder.flush();
    const whole = await list();
    expect(whole).toHaveLength(36);
    const paged: (typeof whole)[number][] = [];
    for (;;) {
      const page = await listRefusals(storage.database, all(), { size: 5, after: paged.at(-1) });
      if (page.length === 0) break;
      paged.push(...page);
    }
    expect(paged).toEqual([...whole]);
  });

  test("are summed by hour, shifted day, key, model and cause", async () => {
    const recorder = start();
    const startMs = storage.clock.nowMs;
    storage.clock.nowMs = startMs + 23 * 3_600_000;
    recorder.note(refusal());
    recorder.note(refusal({ keyId: "l", model: undefined }));
    await recorder.flush();
    storage.clock.nowMs += 3_600_000;
    recorder.note(refusal({ cause: "rate_limited" }));
    await recorder.flush();
    const sum = (bucketMs: number | undefined, dimension?: "key" | "model" | "cause", offsetMs = 0) =>
      sumRefusals(storage.database, all(), { bucketMs, offsetMs, dimension });
    const times = async (bucketMs: number, offsetMs = 0) =>
      (await sum(bucketMs, undefined, offsetMs))
        .map(({ timeMs = 0, count }) => [(timeMs - startMs) / 3_600_000, count])
        .sort((a, b) => Number(a[0]) - Number(b[0]));
    expect(await times(3_600_000)).toEqual([
      [23, 2],
      [24, 1],
    ]);
    expect(await times(24 * 3_600_000)).toEqual([
      [0, 2],
      [24, 1],
    ]);
    expect(await times(24 * 3_600_000, 2 * 3_600_000)).toEqual([[22, 3]]);
    const groups = async (dimension: "key" | "model" | "cause") =>
      Object.fromEntries((await sum(undefined, dimension)).map(({ group, count }) => [group, count]));
    expect(await groups("key")).toEqual({ k: 2, l: 1 });
    expect(await groups("model")).toEqual({ chat: 2, "": 1 });
    expect(await groups("cause")).toEqual({ wallet_empty: 2, rate_limited: 1 });
  });

  test("are swept after their time, and later ones stay", async () => {
    const recorder = start();
    for (let hour = 0; hour < 6; hour += 1) {
      recorder.note(refusal());
      await recorder.flush();
      storage.clock.nowMs += 3_600_000;
    }
    await sweepRefusals(storage.database, storage.clock.nowMs - 2 * 3_600_000);
    expect(await list()).toHaveLength(2);
    await sweepRefusals(storage.database, storage.clock.nowMs);
    await sweepRefusals(storage.database, storage.clock.nowMs);
    expect(await list()).toHaveLength(0);
  });

  test("store texts of clients cut, and whatever characters they have", async () => {
    const recorder = start();
    const hostile = `\0\ud800'";--\u2028${"x".repeat(10_000)}`;
    recorder.note(
      refusal({ cause: "unknown_model", model: undefined, requestedModel: hostile, text: hostile }),
    );
    await recorder.flush();
    const [row] = await list();
    expect(row?.last.requestedModel).toBe(hostile.slice(0, 300));
    expect(row?.model).toBe("");
  });
});

test("counts that cannot be written are kept for the next time", async () => {
  const storage = await openTempStorage("sqlite");
  const log = createCapturedLog();
  let fails = true;
  const transact: typeof storage.database.transact = (work) =>
    fails ? Promise.reject(new Error("disk full")) : storage.database.transact(work);
  const recorder = startRefusalRecorder({
    database: { ...storage.database, transact } as never,
    log,
    now: storage.now,
  });
  recorder.note({
    requestId: Bun.randomUUIDv7("hex", storage.clock.nowMs),
    accountId: "a",
    keyId: "k",
    cause: "spending_limit",
    model: undefined,
    requestedModel: undefined,
    surface: "chat",
    text: undefined,
    retryAfterS: undefined,
    facts: undefined,
  });
  await recorder.flush();
  storage.clock.nowMs += 3 * MINUTE_MS;
  await recorder.flush();
  expect(log.text()).toContain("refused requests not written");
  fails = false;
  await recorder.close();
  const filter = { accountId: "a", fromMs: 0, toMs: storage.clock.nowMs };
  expect(await listRefusals(storage.database, filter, { size: 9, after: undefined })).toMatchObject([
    { count: 1 },
  ]);
  await storage.close();
});
