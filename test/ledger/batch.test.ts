// The batch loop on a real SQLite store. One file of more than 300 lines, because all tests share its
// fixture.
import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, mock, spyOn, test } from "bun:test";
import fc from "fast-check";
import { connect } from "../../src/db/sqlite/database.ts";
import { auditSqlite } from "../../src/ledger/audit/audit.ts";
import type { Command } from "../../src/ledger/core/command.ts";
import { type Batcher, createBatcher } from "../../src/ledger/engine/batcher.ts";
import { type Store, StoreError } from "../../src/ledger/engine/store.ts";
import { createSqliteStore } from "../../src/ledger/sqlite/store.ts";
import { platform } from "../../src/platform.ts";
import { commands } from "./commands.ts";
import {
  errorCodeOf,
  FACTS,
  holdIdOf,
  holdOf,
  NOON_MS,
  type OpenLedger,
  openLedger,
  WALLET,
} from "./samples.ts";

const TABLES = ["wallets", "holds", "transfers", "spend_limits", "limit_counters"];
let open: OpenLedger;

beforeEach(async () => {
  open = await openLedger(100n, { busyMaxMs: 150 });
});

afterEach(() => {
  mock.restore();
  return open.close();
});

function dump(database: Database): unknown {
  return TABLES.map((table) =>
    database.query(`SELECT * FROM ${table} ORDER BY 1, 2, 3`).safeIntegers(true).all(),
  );
}

/** A store that counts its transactions. */
function counting(store: Store): Store & { readonly sizes: number[] } {
  const sizes: number[] = [];
  return {
    ...store,
    sizes,
    transact: (walletIds, batch) =>
      store.transact(walletIds, {
        ...batch,
        collect() {
          const collected = batch.collect();
          sizes.push(collected.length);
          return collected;
        },
      }),
  };
}

/** Syncs that end when a test resolves or rejects them; `syncs` lists those that began. */
function scriptedSyncs() {
  const syncs: PromiseWithResolvers<void>[] = [];
  const sync = () => {
    const next = Promise.withResolvers<void>();
    syncs.push(next);
    return next.promise;
  };
  return { sync, syncs };
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

async function turnsUntil(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await turns(1);
}

function openBatcher(client: Database, options = {}) {
  const store = counting(createSqliteStore({ client, now: () => NOON_MS, sync: async () => undefined }));
  return { store, batcher: createBatcher(store, options) };
}

describe("the batch loop", () => {
  test("commits all commands of one event-loop turn together", async () => {
    const client = connect(open.database.path, 0);
    const { store, batcher } = openBatcher(client);
    await Promise.all(
      Array.from({ length: 50 }, async (_, i) => {
        await Promise.resolve();
        await batcher.submit("hold", holdOf(1n, { holdId: holdIdOf(`h${i}`) }));
      }),
    );
    expect(store.sizes).toEqual([50]);
    client.close();
  });

  test("tells its observer of every transaction, sync and fault", async () => {
    const client = connect(open.database.path, 0);
    const told: string[] = [];
    const observer = {
      committed: (commands: number, ms: number) => void told.push(`committed ${commands} ${ms >= 0}`),
      synced: (ms: number) => void told.push(`synced ${ms >= 0}`),
      failed: (fault: string) => void told.push(`failed ${fault}`),
    };
    const store = createSqliteStore({ client, now: () => NOON_MS, sync: async () => undefined });
    let isBusy = true;
    const once: Store = {
      ...store,
      transact(walletIds, batch) {
        if (!isBusy) return store.transact(walletIds, batch);
        isBusy = false;
        throw new StoreError("busy", new Error("locked"));
      },
    };
    const batcher = createBatcher(once, { observer });
    await batcher.submit("hold", holdOf(1n));
    await batcher.close();
    expect(told).toEqual(["failed busy", "committed 1 true", "synced true"]);
    client.close();
  });

  test("completes no command before the commit", async () => {
    let isCompleted = false;
    const client = connect(open.database.path, 0);
    const store = createSqliteStore({ client, now: () => NOON_MS, sync: async () => undefined });
    const late: Store = {
      ...store,
      async transact(walletIds, batch) {
        await Bun.sleep(20);
        expect(isCompleted).toBe(false);
        await store.transact(walletIds, batch);
      },
    };
    const held = createBatcher(late)
      .submit("hold", holdOf(1n))
      .then(() => {
        isCompleted = true;
      });
    await held;
    expect(isCompleted).toBe(true);
    client.close();
  });

  test("collects commands that arrive while it waits for the lock, but only of its wallets", async () => {
    await open.ledger.createWallet("other");
    const client = connect(open.database.path, 0);
    const store = counting(createSqliteStore({ client, now: () => NOON_MS, sync: async () => undefined }));
    const [begun, locked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow: Store = {
      ...store,
      async transact(walletIds, batch) {
        begun.resolve();
        await locked.promise;
        await store.transact(walletIds, batch);
      },
    };
    const batcher = createBatcher(slow);
    const first = batcher.submit("hold", holdOf(1n));
    await begun.promise;
    const second = batcher.submit("hold", holdOf(1n, { holdId: holdIdOf("h2") }));
    const elsewhere = batcher.submit("hold", holdOf(0n, { walletId: "other" }));
    locked.resolve();
    await Promise.all([first, second, elsewhere]);
    expect(store.sizes).toEqual([2, 1]);
    client.close();
  });

  test("commits nothing while the log syncs, and then together what arrived meanwhile", async () => {
    const client = connect(open.database.path, 0);
    const { sync, syncs } = scriptedSyncs();
    const store = counting(createSqliteStore({ client, now: () => NOON_MS, sync }));
    const batcher = createBatcher(store);
    const hold = (name: string) => batcher.submit("hold", holdOf(1n, { holdId: holdIdOf(name) }));
    const first = hold("h1");
    await turnsUntil(() => syncs.length === 1);
    const later = [hold("h2"), turns(3).then(() => hold("h3"))];
    await turns(6);
    expect(store.sizes).toEqual([1]);

    syncs[0]?.reject(new Error("The disk is gone"));
    expect(await errorCodeOf(first)).toBe("unavailable");
    await turnsUntil(() => syncs.length === 2);
    expect(store.sizes).toEqual([1, 2]);
    syncs[1]?.resolve();
    expect(await Promise.all(later)).toMatchObject([{ granted: 1n }, { granted: 1n }]);
    await batcher.close();
    client.close();
  });

  test("grants a hold that does not await the disk when it is committed, unless the disk has failed", async () => {
    const client = connect(open.database.path, 0);
    const { sync, syncs } = scriptedSyncs();
    const batcher = createBatcher(createSqliteStore({ client, now: () => NOON_MS, sync }));
    const hold = (name: string) =>
      batcher.submit("hold", holdOf(1n, { holdId: holdIdOf(name) }), { awaitsDisk: false });
    await hold("h1");
    expect(syncs).toHaveLength(0);

    const facts = { outcome: "ok", source: "none", attempts: [] } as const;
    const released = batcher.submit("release", { walletId: WALLET, holdId: holdIdOf("h1"), facts });
    await hold("h2");
    expect(syncs).toHaveLength(1);
    syncs[0]?.reject(new Error("The disk is gone"));
    expect(await errorCodeOf(released)).toBe("unavailable");
    const failed = hold("h3");
    await turnsUntil(() => syncs.length === 2);
    syncs[1]?.reject(new Error("The disk is gone"));
    expect(await errorCodeOf(failed)).toBe("unavailable");
    await batcher.close();
    client.close();
  });

  test("fails only the commands that exceed the queue", async () => {
    const client = connect(open.database.path, 0);
    const { batcher } = openBatcher(client, { queueMax: 3 });
    const given = ["a", "b", "c", "d"].map((name) =>
      batcher.submit("hold", holdOf(1n, { holdId: holdIdOf(name) })),
    );
    const results = await Promise.allSettled(given);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "fulfilled", "rejected"]);
    expect(await errorCodeOf(given[3] ?? Promise.resolve())).toBe("queue_full");
    client.close();
  });

  test("completes accepted commands when closed and takes no more", async () => {
    const client = connect(open.database.path, 0);
    const { batcher } = openBatcher(client);
    const taken = batcher.submit("hold", holdOf(1n));
    const closed = batcher.close();
    expect(await errorCodeOf(batcher.submit("hold", holdOf(1n, { holdId: holdIdOf("h2") })))).toBe(
      "unavailable",
    );
    await closed;
    expect(client.query("SELECT hold_id FROM holds").values()).toEqual([[holdIdOf("h1")]]);
    expect(await taken).toMatchObject({ granted: 1n });
    client.close();
  });

  test("reads the counters that a limit set in the batch needs", async () => {
    const client = connect(open.database.path, 0);
    const { store, batcher } = openBatcher(client);
    const limit = { walletId: WALLET, limitId: "l1", keyId: "k1", amount: 5n };
    await Promise.all([
      batcher.submit("set_spend_limit", { ...limit, period: "month" }),
      batcher.submit("hold", holdOf(4n)),
    ]);
    await batcher.submit("set_spend_limit", { ...limit, period: "total" });
    const monthly = batcher.submit("set_spend_limit", { ...limit, period: "month" });
    const declined = errorCodeOf(batcher.submit("hold", holdOf(2n, { holdId: holdIdOf("h2") })));
    await monthly;
    expect(await declined).toBe("spending_limit_exceeded");
    expect(store.sizes).toEqual([2, 1, 2]);
    client.close();
  });

  test("stores all commands of a batch but the one that the database rejects", async () => {
    open.database.client.run(`CREATE TRIGGER poison BEFORE INSERT ON holds WHEN new.hold_id = '${holdIdOf("h37")}'
      BEGIN SELECT RAISE(ABORT, 'poison'); END`);
    const given = Array.from({ length: 90 }, (_, i) =>
      open.ledger.hold(holdOf(1n, { holdId: holdIdOf(`h${i}`) })),
    );
    const results = await Promise.allSettled(given);
    expect(results.flatMap(({ status }, i) => (status === "rejected" ? [i] : []))).toEqual([37]);
    expect(await errorCodeOf(given[37] ?? Promise.resolve())).toBe("unavailable");
    expect(await open.ledger.balances(WALLET)).toMatchObject({ held: 89n });
    expect((await auditSqlite(open.database, NOON_MS)).findings).toEqual([]);
  });
});

describe("a locked database", () => {
  test("is waited for without blocking the event loop", async () => {
    const patient = await openLedger(100n, { busyMaxMs: 120_000 });
    const blocker = connect(patient.database.path, 0);
    blocker.run("BEGIN IMMEDIATE");
    const held = patient.ledger.hold(holdOf(1n));
    // SQLite's own wait would stop the event loop for seconds in each of these turns.
    const startedAt = performance.now();
    for (let turn = 0; turn < 200; turn += 1) await Bun.sleep(2);
    expect(performance.now() - startedAt).toBeLessThan(60_000);
    blocker.run("COMMIT");
    expect(await held).toMatchObject({ granted: 1n });
    blocker.close();
    await patient.close();
  });

  test("fails commands as unavailable after a while, and they can be repeated", async () => {
    const blocker = connect(open.database.path, 0);
    blocker.run("BEGIN IMMEDIATE");
    expect(await errorCodeOf(open.ledger.hold(holdOf(1n)))).toBe("unavailable");
    expect(await open.ledger.balances(WALLET)).toMatchObject({ held: 0n });
    blocker.run("ROLLBACK");
    expect(await open.ledger.hold(holdOf(1n))).toMatchObject({ granted: 1n, replayed: false });
    blocker.close();
  });
});

describe("a database", () => {
  const unwritable: [string, (path: string) => Database][] = [
    ["is read-only", (path) => new Database(path, { readonly: true })],
    [
      "is full",
      (path) => {
        const client = connect(path, 0);
        client.run(`PRAGMA max_page_count = ${Number(client.query("PRAGMA page_count").values()[0]?.[0])}`);
        return client;
      },
    ],
  ];

  test.each(unwritable)("that %s fails commands as unavailable and changes nothing", async (_, connectTo) => {
    const before = dump(open.database.client);
    const client = connectTo(open.database.path);
    const { batcher } = openBatcher(client);
    const metadata = { long: "x".repeat(4000) };
    const given = Array.from({ length: 50 }, (_, i) =>
      errorCodeOf(batcher.submit("hold", holdOf(1n, { holdId: holdIdOf(`h${i}`), metadata }))),
    );
    expect(new Set(await Promise.all(given))).toEqual(new Set(["unavailable"]));
    expect(dump(open.database.client)).toEqual(before);
    client.close();
    expect(await open.ledger.hold(holdOf(1n))).toMatchObject({ granted: 1n });
  });
});

test("a ping fails when the database cannot be read", async () => {
  await open.ledger.ping();
  open.database.client.run("ALTER TABLE wallets RENAME TO gone");
  expect(await errorCodeOf(open.ledger.ping())).toBe("unavailable");
});

describe("batches in SQLite", () => {
  test("have the rows and results of their commands one by one", async () => {
    const plan = fc.array(fc.array(commands, { minLength: 1, maxLength: 25, size: "max" }), {
      minLength: 1,
      maxLength: 3,
    });
    await fc.assert(
      fc.asyncProperty(plan, async (batches) => {
        const [together, apart] = [await openLedger(100n), await openLedger(100n)];
        const [one, other] = [clientOf(together), clientOf(apart)];
        for (const batch of batches) {
          const completions = await Promise.all(batch.map((command) => submit(one.batcher, command)));
          for (const [index, command] of batch.entries()) {
            expect(await submit(other.batcher, command)).toEqual(completions[index]);
          }
        }
        expect(dump(one.client)).toEqual(dump(other.client));
        expect((await auditSqlite(together.database, NOON_MS)).findings).toEqual([]);
        for (const { client } of [one, other]) client.close();
        await Promise.all([together.close(), apart.close()]);
      }),
      { numRuns: 12 },
    );
  });
});

function clientOf(ledger: OpenLedger) {
  const client = connect(ledger.database.path, 0);
  return { client, ...openBatcher(client) };
}

async function submit(batcher: Batcher, { kind, request }: Command): Promise<unknown> {
  try {
    return await batcher.submit(kind, request);
  } catch (error) {
    return String(error);
  }
}

test("a decline in a batch does not affect its other commands", async () => {
  const given = [
    open.ledger.hold(holdOf(60n)),
    open.ledger.hold(holdOf(60n, { holdId: holdIdOf("h2") })),
    open.ledger.settle({ walletId: WALLET, holdId: holdIdOf("h1"), amount: 10n, facts: FACTS }),
    open.ledger.hold(holdOf(60n, { holdId: holdIdOf("h3") })),
  ];
  const results = await Promise.allSettled(given);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled"]);
  expect(await open.ledger.balances(WALLET)).toEqual({ posted: 90n, held: 60n, available: 30n });
});

test("a refund with the id of its hold is replayed in its own batch", async () => {
  await open.ledger.hold(holdOf(60n));
  const holdId = holdIdOf("h1");
  const settled = open.ledger.settle({ walletId: WALLET, holdId, amount: 10n, facts: FACTS });
  const refund = () => open.ledger.refund({ walletId: WALLET, refundId: holdId, holdId, amount: 4n });
  const [, first, second] = await Promise.all([settled, refund(), refund()]);
  expect([first.replayed, second.replayed]).toEqual([false, true]);
  expect(second.balances).toEqual({ posted: 94n, held: 0n, available: 94n });
});

test("a hold in doubt is not declined as late after its commit status is known", async () => {
  const client = connect(open.database.path, 0);
  const store = createSqliteStore({ client, now: () => NOON_MS, sync: async () => undefined });
  let nowMs = NOON_MS;
  let isLost = true;
  const lossy: Store = {
    ...store,
    async transact(walletIds, batch) {
      await store.transact(walletIds, batch);
      if (isLost) throw new StoreError("unknown", new Error("The connection ended"), "1");
    },
    async commitStatusOf() {
      isLost = false;
      nowMs = NOON_MS + 60_000;
      return "unknown";
    },
  };
  const batcher = createBatcher(lossy, { now: () => nowMs });
  const grant = await batcher.submit("hold", holdOf(10n), { deadlineMs: NOON_MS + 1_000 });
  expect(grant).toMatchObject({ granted: 10n, replayed: true });
  await batcher.close();
  client.close();
});

test("a command is tried a second time after a transaction in which the process stood still", async () => {
  const client = connect(open.database.path, 0);
  const store = createSqliteStore({ client, now: () => NOON_MS, sync: async () => undefined });
  let tries = 0;
  const stalling: Store = {
    ...store,
    async transact(walletIds, batch) {
      tries += 1;
      if (tries > 1) return store.transact(walletIds, batch);
      spyOn(platform, "monotonicMs").mockReturnValue(platform.monotonicMs() + 60_000);
      throw new StoreError("away", new Error("The database ended an idle transaction"));
    },
  };
  const batcher = createBatcher(stalling);
  expect(await batcher.submit("hold", holdOf(10n))).toMatchObject({ granted: 10n, replayed: false });
  expect(tries).toBe(2);
  await batcher.close();
  client.close();
});
