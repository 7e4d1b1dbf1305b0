import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { openExportConnection } from "../../src/ledger/exports/connection.ts";
import {
  forgetCursor,
  joinMoves,
  keepReceiptsFrom,
  moveCursor,
  openCursor,
  readExportBacklogs,
} from "../../src/ledger/exports/cursor.ts";
import { readPage } from "../../src/ledger/exports/page.ts";
import { FACTS, holdIdOf } from "../ledger/samples.ts";
import { createDraw } from "../support/seeded-random.ts";
import { until } from "../support/until.ts";
import { DIALECTS, type ExportEnv, openExportEnv, type ParsedLine, parse } from "./export-env.ts";

describe.each(DIALECTS)("exports of a ledger in %s", (dialect) => {
  let env: ExportEnv;
  let walletId: string;

  beforeEach(async () => {
    env = await openExportEnv(dialect);
    walletId = (await env.newAccount("acme")).id;
    await env.ledger.topUp({ walletId, topUpId: "funds", amount: 1_000_000n });
  });
  afterEach(() => env.close());

  test("every transfer and every receipt without one is a line, once", async () => {
    await env.open("warehouse");
    const charged = await env.spend(walletId, 5n);
    const free = await env.spend(walletId, 0n);
    const released = await env.spend(walletId, undefined);
    await env.ledger.refund({ walletId, refundId: "sorry", holdId: charged, amount: 2n });
    const facts = { surface: "chat", model: "m" };
    await env.ledger.charge({ walletId, chargeId: "c1", keyId: "k1", amount: 3n, facts, outcome: FACTS });
    const lines = await env.takeAll("warehouse");
    const direct = lines.find(({ transfer }) => transfer?.kind === "charge")?.receipt?.request_id;
    expect(lines.map(({ id }) => id).sort()).toEqual(
      [
        `${walletId}/top_up/funds`,
        `${walletId}/receipt/${charged}`,
        `${walletId}/receipt/${free}/uncharged`,
        `${walletId}/receipt/${released}/uncharged`,
        `${walletId}/refund/sorry`,
        `${walletId}/receipt/${direct}`,
      ].sort(),
    );
    const ofType = (end: string) => lines.find(({ id }) => id.endsWith(end));
    expect(ofType(`receipt/${charged}`)).toMatchObject({
      account_name: "acme",
      key_name: null,
      transfer: { seq: 2, kind: "settlement", amount_usd: "-0.000000005", balance_after_usd: "0.000999995" },
      receipt: { request_id: charged, state: "settled", charged_usd: "0.000000005" },
    });
    expect(ofType("refund/sorry")).toMatchObject({
      receipt: { request_id: charged, refunded_usd: "0.000000002" },
    });
    expect(ofType(`${released}/uncharged`)).toMatchObject({ transfer: null, receipt: { state: "released" } });
    expect(await env.takeAll("warehouse")).toEqual([]);
  });

  test("the end of a credit is a line without a receipt, and is sent once", async () => {
    await env.open("warehouse");
    const expiresAtMs = env.clock.nowMs + 1_000;
    await env.ledger.topUp({ walletId, topUpId: "gift", amount: 50n, source: "promotion", expiresAtMs });
    env.clock.nowMs = expiresAtMs;
    await env.ledger.sweep();
    const lines = await env.takeAll("warehouse");
    expect(lines.at(-1)).toMatchObject({
      id: `${walletId}/credit_expiry/expiry-2-3`,
      type: "credit_expiry",
      transfer: { seq: 3, kind: "credit_expiry", amount_usd: "-0.00000005" },
      receipt: null,
    });
    expect(lines.map(({ transfer }) => transfer?.amount_usd)).toEqual(["0.001", "0.00000005", "-0.00000005"]);
    expect((await env.ledger.balances(walletId)).posted).toBe(1_000_000n);
  });

  test("a receipt that expires and is settled late has a line for each, and the amounts add up", async () => {
    await env.open("warehouse");
    const holds = { surface: "chat", model: "demo" };
    const ids = [holdIdOf("charged", env.clock.nowMs), holdIdOf("free", env.clock.nowMs)] as const;
    for (const holdId of ids) {
      await env.ledger.hold({
        walletId,
        holdId,
        keyId: "k",
        amount: 9n,
        minimum: 9n,
        ttlMs: 1_000,
        facts: holds,
      });
    }
    await env.ledger.extend({ walletId, holdId: ids[0], accrued: 4n, ttlMs: 1_000 });
    env.clock.nowMs += 10_000;
    await env.ledger.sweep();
    const expired = await env.takeAll("warehouse");
    const facts = { outcome: "ok", source: "reported", attempts: [] } as const;
    for (const holdId of ids) await env.ledger.settle({ walletId, holdId, amount: 6n, facts });
    const late = await env.takeAll("warehouse");
    expect(expired.map(({ id }) => id).sort()).toEqual(
      [
        `${walletId}/receipt/${ids[0]}`,
        `${walletId}/receipt/${ids[1]}/uncharged`,
        `${walletId}/top_up/funds`,
      ].sort(),
    );
    expect(late.map(({ id, transfer }) => [id, transfer?.amount_usd])).toEqual([
      [`${walletId}/receipt/${ids[0]}/late`, "-0.000000002"],
      [`${walletId}/receipt/${ids[1]}/late`, "-0.000000006"],
    ]);
  });

  test("an export that starts at the beginning also finds what ended without a charge before it", async () => {
    const free = await env.spend(walletId, 0n);
    env.clock.nowMs += 30 * 86_400_000;
    const released = await env.spend(walletId, undefined);
    await env.spend(walletId, 7n);
    env.clock.nowMs += 60_000;
    await env.open("warehouse");
    const ids = (await env.takeAll("warehouse", 2)).map(({ id }) => id);
    expect(ids).toHaveLength(4);
    expect(ids).toContain(`${walletId}/receipt/${free}/uncharged`);
    expect(ids).toContain(`${walletId}/receipt/${released}/uncharged`);
    expect(await env.takeAll("warehouse")).toEqual([]);
  });

  test("a page that the journal does not fill is filled with uncharged ends, and says when more are left", async () => {
    await env.open("warehouse");
    await env.takeAll("warehouse");
    for (let count = 0; count < 9; count += 1) await env.spend(walletId, undefined);
    await env.spend(walletId, 5n);
    const read = async () => readPage(env.connection, await env.cursor("warehouse"), 8);
    const { entries, isCut } = await read();
    expect(entries.map(({ transfer }) => transfer?.kind)).toEqual([
      ...Array(7).fill(undefined),
      "settlement",
    ]);
    expect(isCut).toBe(true);
    await moveCursor(
      env.connection,
      await env.cursor("warehouse"),
      joinMoves(entries.map(({ move }) => move)),
    );
    expect(await read()).toMatchObject({ entries: [{}, {}], isCut: false });
  });

  test("a page says when the transfers of one wallet did not fit", async () => {
    const other = (await env.newAccount("other")).id;
    await env.open("warehouse");
    await env.takeAll("warehouse");
    for (let count = 0; count < 5; count += 1) await env.spend(walletId, 5n);
    await env.ledger.topUp({ walletId: other, topUpId: "funds", amount: 5n });
    const cursor = await env.cursor("warehouse");
    expect((await readPage(env.connection, cursor, 4)).isCut).toBe(true);
    expect((await readPage(env.connection, cursor, 40)).isCut).toBe(false);
  });

  test("an export finds what ended without a charge before the clock was set back and the export created", async () => {
    const released = await env.spend(walletId, undefined);
    env.clock.nowMs -= 3 * 3_600_000;
    const later = await env.spend(walletId, undefined);
    await env.open("warehouse");
    const ids = (await env.takeAll("warehouse")).map(({ id }) => id);
    for (const id of [released, later]) expect(ids).toContain(`${walletId}/receipt/${id}/uncharged`);
  });

  test("an export that starts now has nothing that was committed before it", async () => {
    await env.spend(walletId, 7n);
    await env.spend(walletId, undefined);
    await env.open("billing", "now");
    const other = (await env.newAccount("new")).id;
    await env.ledger.topUp({ walletId: other, topUpId: "funds", amount: 5n });
    const charged = await env.spend(walletId, 8n);
    expect((await env.takeAll("billing")).map(({ id }) => id).sort()).toEqual(
      [`${walletId}/receipt/${charged}`, `${other}/top_up/funds`].sort(),
    );
  });

  test("lines are repeated when the process dies after their delivery and before the cursor moves", async () => {
    await env.open("warehouse");
    await env.spend(walletId, undefined);
    const read = async () =>
      parse((await readPage(env.connection, await env.cursor("warehouse"), 10)).entries);
    const delivered = await read();
    expect(delivered).toHaveLength(2);
    expect(await read()).toEqual([...delivered]);
  });

  test("of two processes that deliver one page, one moves the cursor", async () => {
    await env.open("warehouse");
    const cursor = await env.cursor("warehouse");
    const { entries } = await readPage(env.connection, cursor, 10);
    const [move = { positions: new Map() }] = entries.map((entry) => entry.move);
    const moved = [
      await moveCursor(env.connection, cursor, move),
      await moveCursor(env.connection, cursor, move),
    ];
    expect(moved).toEqual([true, false]);
  });

  test("two exports of one ledger go on separately, and rows that both have taken are deleted", async () => {
    await env.open("one");
    await env.open("two");
    await env.spend(walletId, undefined);
    const rows = async () =>
      (await env.connection.run({ sql: "SELECT 1 FROM export_ends", values: [] })).length;
    expect(await env.takeAll("one")).toHaveLength(2);
    expect(await rows()).toBe(1);
    expect(await env.takeAll("two")).toHaveLength(2);
    expect(await rows()).toBe(0);
  });

  test("a ledger without exports records no receipts for them, and stops when the last is forgotten", async () => {
    const rows = async () =>
      (await env.connection.run({ sql: "SELECT 1 FROM export_ends", values: [] })).length;
    await env.spend(walletId, undefined);
    expect(await rows()).toBe(0);
    await env.open("one");
    await env.spend(walletId, undefined);
    expect(await rows()).toBe(1);
    expect(await forgetCursor(env.connection, "one")).toBe(true);
    expect(await forgetCursor(env.connection, "one")).toBe(false);
    await env.spend(walletId, undefined);
    expect(await rows()).toBe(0);
  });

  test("the backlog is as old as its oldest line, and receipts are kept for it", async () => {
    const { run, dialect: sql } = env.connection;
    expect(await keepReceiptsFrom(run, sql)).toBeUndefined();
    await env.open("warehouse");
    await env.takeAll("warehouse");
    expect(await readExportBacklogs(run, sql)).toEqual([
      { name: "warehouse", oldestAtMs: undefined, lagsFromMs: undefined },
    ]);
    const atMs = env.clock.nowMs;
    await env.spend(walletId, 3n);
    env.clock.nowMs += 3_600_000;
    await env.spend(walletId, undefined);
    expect(await readExportBacklogs(run, sql)).toEqual([
      { name: "warehouse", oldestAtMs: atMs, lagsFromMs: atMs },
    ]);
    expect(await keepReceiptsFrom(run, sql)).toBeLessThan(atMs);
    await env.takeAll("warehouse");
    expect(await keepReceiptsFrom(run, sql)).toBeUndefined();
  });

  test("an export that has not begun lags since its creation, and keeps every receipt", async () => {
    const { run, dialect: sql } = env.connection;
    const createdAtMs = env.clock.nowMs;
    await env.open("warehouse");
    const [backlog] = await readExportBacklogs(run, sql);
    expect(backlog?.lagsFromMs ?? createdAtMs).toBeGreaterThan(createdAtMs - 86_400_000);
    await env.connection.transact(async (change) =>
      change({ sql: "UPDATE exports SET searched_to = ''", values: [] }),
    );
    expect(await readExportBacklogs(run, sql)).toMatchObject([{ oldestAtMs: 0, lagsFromMs: createdAtMs }]);
    expect(await keepReceiptsFrom(run, sql)).toBe(0);
  });

  test("the line of a receipt that is no longer kept has its transfer and its id", async () => {
    await env.open("warehouse");
    const charged = await env.spend(walletId, 3n);
    await env.connection.transact(async (run) => run({ sql: "DELETE FROM holds", values: [] }));
    const lines = await env.takeAll("warehouse");
    expect(lines.find(({ type }) => type === "receipt")).toMatchObject({
      id: `${walletId}/receipt/${charged}`,
      transfer: { kind: "settlement", amount_usd: "-0.000000003" },
      receipt: null,
    });
  });

  test("no line is missing after rivals that die anywhere", async () => {
    const random = createDraw(4_711);
    const wallets = [walletId, (await env.newAccount("b")).id, (await env.newAccount("c")).id];
    for (const id of wallets) await env.ledger.topUp({ walletId: id, topUpId: "more", amount: 1_000_000n });
    await env.open("warehouse");
    const delivered = new Map<string, ParsedLine>();
    const uncharged = new Set<string>();
    const work = async () => {
      for (let count = 0; count < 60; count++) {
        const id = wallets[Math.floor(random() * wallets.length)] ?? walletId;
        const amount = [undefined, 0n, 5n, 6n, 7n][Math.floor(random() * 5)];
        const holdId = await env.spend(id, amount);
        if (!amount) uncharged.add(`${id}/receipt/${holdId}/uncharged`);
      }
    };
    const rival = async (steps: number) => {
      for (let step = 0; step < steps; step++) {
        const cursor = await env.cursor("warehouse");
        const { entries, move } = await readPage(env.connection, cursor, 1 + Math.floor(random() * 9));
        for (const line of parse(entries)) delivered.set(line.id, line);
        if (random() < 0.3) continue;
        const last = entries.length > 0 ? entries.map((entry) => entry.move) : move ? [move] : [];
        await moveCursor(env.connection, cursor, joinMoves(last));
      }
    };
    await Promise.all([work(), rival(25), rival(25)]);
    for (const line of await env.takeAll("warehouse")) delivered.set(line.id, line);
    for (const id of wallets) {
      const seqs = [...delivered.values()].flatMap(({ account_id, transfer }) =>
        account_id === id && transfer ? [transfer.seq] : [],
      );
      const { transfers } = await env.ledger.journalTotals(id);
      expect(seqs.sort((one, other) => one - other)).toEqual(
        Array.from({ length: transfers }, (_, at) => at + 1),
      );
    }
    expect([...delivered.keys()].filter((id) => id.endsWith("/uncharged")).sort()).toEqual(
      [...uncharged].sort(),
    );
  });
});

test("a batch that commits late is exported after batches that began later", async () => {
  const env = await openExportEnv("postgres");
  if (env.database.dialect !== "postgres") throw new Error("The database is not PostgreSQL");
  const late = env.database.postgres.connect({ max: 1 });
  try {
    const [slow, quick] = [(await env.newAccount("slow")).id, (await env.newAccount("quick")).id];
    await env.open("warehouse");
    const begun = Promise.withResolvers<void>();
    const mayCommit = Promise.withResolvers<void>();
    const committed = late.begin(async (transaction) => {
      await transaction.unsafe("UPDATE wallets SET last_seq = 1, posted = 5 WHERE wallet_id = $1", [slow]);
      const values = [slow, `${env.clock.nowMs}`];
      await transaction.unsafe(
        "INSERT INTO transfers VALUES ($1, 1, 'late', 1, 2, 1, 5, 5, NULL, $2, NULL)",
        values,
      );
      const holdId = holdIdOf("late end", env.clock.nowMs);
      await transaction.unsafe("INSERT INTO export_ends VALUES ($1, $2)", [slow, holdId]);
      begun.resolve();
      await mayCommit.promise;
    });
    await begun.promise;
    await env.ledger.topUp({ walletId: quick, topUpId: "quick", amount: 9n });
    const released = await env.spend(quick, undefined);
    const first = await env.takeAll("warehouse");
    mayCommit.resolve();
    await committed;
    const second = await env.takeAll("warehouse");
    expect(first.map(({ id }) => id).sort()).toEqual(
      [`${quick}/receipt/${released}/uncharged`, `${quick}/top_up/quick`].sort(),
    );
    expect(second.map(({ account_id }) => account_id)).toEqual([slow, slow]);
  } finally {
    await late.close();
    await env.close();
  }
});

test("in PostgreSQL an export that is opened while the last one is forgotten has its uncharged ends", async () => {
  const env = await openExportEnv("postgres");
  const { connection } = env;
  const { id: walletId } = await env.newAccount("acme");
  await env.ledger.topUp({ walletId, topUpId: "funds", amount: 10n });
  await env.open("old");
  const [isOpened, mayCommit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow: typeof connection = {
    ...connection,
    transact: (work) =>
      connection.transact(async (run) => {
        const result = await work(run);
        isOpened.resolve();
        await mayCommit.promise;
        return result;
      }),
  };
  const opened = openCursor(slow, { name: "new", start: "now", nowMs: env.clock.nowMs });
  await isOpened.promise;
  const forgotten = forgetCursor(connection, "old");
  // Both connections are busy.
  const further = openExportConnection(env.database);
  // Copies of one template, which other tests use at the same time, have equal ids of relations.
  const waits = `SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'usage_fence'::regclass
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
  await until(async () => (await further.run({ sql: waits, values: [] })).length > 0);
  await further.close();
  mayCommit.resolve();
  expect([await opened, await forgotten]).toEqual([true, true]);
  const released = await env.spend(walletId, undefined);
  expect(await env.takeAll("new")).toMatchObject([{ id: `${walletId}/receipt/${released}/uncharged` }]);
  await env.close();
});
