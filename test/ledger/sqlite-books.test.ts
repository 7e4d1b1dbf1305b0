// The books that the SQLite store keeps in memory: what other connections commit, and what a failed batch
// decided, must not stay in them or be missing from them.
import type { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { connect, openDatabase } from "../../src/db/sqlite/database.ts";
import { auditSqlite } from "../../src/ledger/audit/audit.ts";
import type { Command } from "../../src/ledger/core/command.ts";
import { type Batcher, createBatcher } from "../../src/ledger/engine/batcher.ts";
import type { Store } from "../../src/ledger/engine/store.ts";
import type { SettleRequest } from "../../src/ledger/ledger.ts";
import { createBooks } from "../../src/ledger/sqlite/books.ts";
import { createSqliteStore } from "../../src/ledger/sqlite/store.ts";
import { steps } from "./commands.ts";
import { batchesOf, decideAll, expectSame, runAll } from "./contract/batches.ts";
import {
  errorCodeOf,
  FACTS,
  holdIdOf,
  holdOf,
  NOON_MS,
  type OpenLedger,
  openLedger,
  temporaryFolder,
  WALLET,
} from "./samples.ts";

const MINUTE_MS = 60_000;
const walletId = WALLET;
let open: OpenLedger;

beforeEach(async () => {
  open = await openLedger(100n);
});

afterEach(async () => {
  expect((await auditSqlite(open.database, open.clock.nowMs)).findings).toEqual([]);
  await open.close();
});

function settleOf(name: string, amount: bigint): SettleRequest {
  return { walletId, holdId: holdIdOf(name), amount, facts: FACTS };
}

describe("a ledger alone on its file", () => {
  test("takes what a program of an earlier version charged off the credits, and counts what it topped up", async () => {
    const { ledger, database } = open;
    await ledger.topUp({ walletId, topUpId: "t2", amount: 50n, source: "promotion" });
    const older = connect(database.path, 1_000);
    const post = (signed: bigint, seq: number) => {
      const [debit, credit] = signed > 0n ? [3, 1] : [1, 3];
      const amount = signed > 0n ? signed : -signed;
      older.run("BEGIN IMMEDIATE");
      older.run("UPDATE wallets SET posted = posted + ?, last_seq = ? WHERE wallet_id = ?", [
        signed,
        seq,
        walletId,
      ]);
      older.run(
        `INSERT INTO transfers (wallet_id, seq, transfer_id, kind, debit_account, credit_account, amount,
          posted_after, hold_id, created_at_ms)
        SELECT ?1, ?2, 'old-' || ?2, 1, ?3, ?4, ?5, posted, NULL, 0 FROM wallets WHERE wallet_id = ?1`,
        [walletId, seq, debit, credit, amount],
      );
      older.run("COMMIT");
    };
    post(-60n, 3);
    await ledger.topUp({ walletId, topUpId: "t3", amount: 5n });
    const lefts = async () => {
      const { items } = await ledger.credits(walletId, { size: 9 }, { isLive: true });
      return items.map(({ seq, left }) => [seq, left]);
    };
    expect(await lefts()).toEqual([
      [1, 90n],
      [4, 5n],
    ]);
    post(7n, 5);
    await ledger.topUp({ walletId, topUpId: "t4", amount: 1n });
    expect(await lefts()).toEqual([
      [0, 7n],
      [1, 90n],
      [4, 5n],
      [6, 1n],
    ]);
    older.close();
  });

  test("expires its own due holds when a hold needs their money", async () => {
    await open.ledger.hold(holdOf(100n));
    open.clock.nowMs += MINUTE_MS;
    const taken = await open.ledger.hold(holdOf(100n, { holdId: holdIdOf("h2") }));
    expect(taken).toMatchObject({ balances: { posted: 100n, held: 100n } });
  });

  test("counts against the limit of the new period when the period ends", async () => {
    await open.ledger.setSpendLimit({ walletId, limitId: "l1", keyId: "k1", period: "day", amount: 10n });
    await open.ledger.hold(holdOf(10n));
    await open.ledger.settle(settleOf("h1", 10n));
    const tomorrow = holdOf(10n, { holdId: holdIdOf("h2") });
    expect(await errorCodeOf(open.ledger.hold(tomorrow))).toBe("spending_limit_exceeded");
    open.clock.nowMs += 12 * 60 * MINUTE_MS;
    expect(await open.ledger.hold(tomorrow)).toMatchObject({ granted: 10n });
  });

  test("replays the settlement of a hold that ended batches ago", async () => {
    await open.ledger.hold(holdOf(10n));
    await open.ledger.settle(settleOf("h1", 4n));
    await open.ledger.topUp({ walletId, topUpId: "more", amount: 1n });
    expect(await open.ledger.settle(settleOf("h1", 4n))).toMatchObject({
      replayed: true,
      balances: { posted: 97n },
    });
  });
  test("finds ended holds whose ids came in any order", async () => {
    const holdIds = [5, 3, 4].map((digit) => `${holdIdOf("h1").slice(0, -1)}${digit}`);
    for (const holdId of holdIds) {
      await open.ledger.hold(holdOf(10n, { holdId }));
      await open.ledger.settle({ ...settleOf("h1", 4n), holdId });
    }
    for (const holdId of holdIds) {
      expect(await open.ledger.hold(holdOf(10n, { holdId }))).toMatchObject({ replayed: true });
    }
  });
});

/** A batcher on a connection of the test, which can make the connection's statements fail. */
interface FailingBatcher {
  readonly client: Database;
  readonly batcher: Batcher;
}

/** Each makes writes fail until the returned function is called. None commits on another connection. */
const FAULTS: readonly (readonly [string, (given: FailingBatcher) => () => void])[] = [
  [
    "a write is rejected",
    ({ client }) => {
      client.run("CREATE TEMP TRIGGER poison BEFORE INSERT ON main.holds BEGIN SELECT RAISE(ABORT, ''); END");
      return () => client.run("DROP TRIGGER temp.poison");
    },
  ],
  [
    "the disk is full",
    ({ client }) => {
      const pages = Number(client.query("PRAGMA page_count").values()[0]?.[0]);
      client.run(`PRAGMA max_page_count = ${pages}`);
      return () => client.run("PRAGMA max_page_count = 1000000");
    },
  ],
  [
    "another connection is writing",
    () => {
      const blocker = connect(open.database.path, 0);
      blocker.run("BEGIN IMMEDIATE");
      return () => {
        blocker.run("ROLLBACK");
        blocker.close();
      };
    },
  ],
];

test.each(FAULTS)("when %s, the books show nothing of the failed batch", async (_, fail) => {
  const client = connect(open.database.path, 0);
  const store = createSqliteStore({ client, now: () => NOON_MS, sync: async () => undefined });
  const batcher = createBatcher(store, { busyMaxMs: 20 });
  await batcher.submit("hold", holdOf(10n));
  const metadata = { long: "x".repeat(4_000) };
  const request = (index: number) => holdOf(1n, { holdId: holdIdOf(`failed${index}`), metadata });

  const recover = fail({ client, batcher });
  const failed = await Promise.all(
    Array.from({ length: 20 }, (_, index) => errorCodeOf(batcher.submit("hold", request(index)))),
  );
  recover();

  expect(new Set(failed)).toEqual(new Set(["unavailable"]));
  // Also brings back a batcher that gave the database up: it pings the database until a command is taken.
  const balances = await submitUntilTaken(batcher, { kind: "create_wallet", request: { walletId } });
  expect(balances).toEqual({ posted: 100n, held: 10n, available: 90n });
  expect(await batcher.submit("hold", request(0))).toMatchObject({ replayed: false });
  client.close();
});

async function submitUntilTaken(batcher: Batcher, { kind, request }: Command): Promise<unknown> {
  for (;;) {
    try {
      return await batcher.submit(kind, request);
    } catch {
      await Bun.sleep(1);
    }
  }
}

test("a commit that fails leaves nothing in the books", async () => {
  const client = connect(open.database.path, 0);
  const store = createSqliteStore({ client, now: () => NOON_MS, sync: async () => undefined });
  const batcher = createBatcher(store);
  await batcher.submit("hold", holdOf(10n));
  // Checked at the commit, after every write of the batch: each hold of this table lacks its parent.
  client.run("PRAGMA foreign_keys = ON");
  client.run(`CREATE TEMP TABLE parents (id INTEGER PRIMARY KEY);
    CREATE TEMP TABLE children (id INTEGER REFERENCES parents DEFERRABLE INITIALLY DEFERRED);
    CREATE TEMP TRIGGER poison AFTER INSERT ON main.holds BEGIN INSERT INTO children VALUES (1); END`);
  expect(await errorCodeOf(batcher.submit("hold", holdOf(5n, { holdId: holdIdOf("h2") })))).toBe(
    "unavailable",
  );
  client.run("DROP TRIGGER temp.poison");
  const taken = await batcher.submit("hold", holdOf(5n, { holdId: holdIdOf("h2") }));
  expect(taken).toMatchObject({ replayed: false, balances: { held: 15n } });
  client.close();
});

test("books beyond the bound are read again, the others are not", async () => {
  const others = ["b", "c", "d", "e"];
  for (const id of others) await open.ledger.createWallet(id);
  const client = connect(open.database.path, 0);
  const books = createBooks(client, others.length);
  const postedOf = (id: string) => {
    client.run("BEGIN IMMEDIATE");
    const opened = books.open([{ kind: "create_wallet", request: { walletId: id } }], NOON_MS);
    const posted = opened.get(id)?.wallet?.posted;
    books.keep();
    client.run("COMMIT");
    return posted;
  };
  expect(postedOf(walletId)).toBe(100n);
  // A change on the connection of the books themselves, which they cannot see.
  client.run("UPDATE wallets SET posted = 101");
  expect(postedOf(walletId)).toBe(100n);
  for (const id of others) expect(postedOf(id)).toBe(101n);
  expect(postedOf(walletId)).toBe(101n);
  client.run(`UPDATE wallets SET posted = CASE wallet_id WHEN '${walletId}' THEN 100 ELSE 0 END`);
  client.close();
});

test("two stores that take turns on one file decide like the rules alone", async () => {
  const folder = temporaryFolder();
  const { path, close } = openDatabase(join(folder.path, "ledger.db"));
  const clients = [connect(path, 0), connect(path, 0)];
  const clock = { nowMs: NOON_MS };
  const stores = clients.map((client) =>
    createSqliteStore({ client, now: () => clock.nowMs, sync: async () => undefined }),
  );
  let run = 0;
  await fc.assert(
    fc.asyncProperty(steps, fc.infiniteStream(fc.nat(1)), async (given, turns) => {
      const store = {
        transact: (ids, batch) => stores[turns.next().value ?? 0]?.transact(ids, batch),
      } satisfies Pick<Store, "transact">;
      const batches = batchesOf(given);
      run += 1;
      // Safe because running batches needs no more of a store than its clock and its transactions.
      const opened = { store: store as Store, clock } as Parameters<typeof runAll>[0];
      const completions = await runAll(opened, batches, { run: `run${run}-`, isWhole: false });
      expectSame(completions, decideAll(batches), batches);
    }),
    { numRuns: 40 },
  );
  for (const client of clients) client.close();
  close();
  folder.remove();
});

test("an idle store finds the due holds that it, or another process, has taken since", async () => {
  const client = connect(open.database.path, 0);
  const clock = { nowMs: NOON_MS };
  const store = createSqliteStore({ client, now: () => clock.nowMs, sync: async () => undefined });
  const batcher = createBatcher(store);
  const due = async () => (await store.findDue(10)).map(({ holdId }) => holdId);

  expect([await due(), await due()]).toEqual([[], []]);
  await open.ledger.hold(holdOf(10n, { holdId: holdIdOf("of another") }));
  expect([await due(), await due()]).toEqual([[], []]);
  clock.nowMs += 2 * MINUTE_MS;
  expect(await due()).toEqual([holdIdOf("of another")]);
  await open.ledger.settle(settleOf("of another", 1n));
  expect([await due(), await due()]).toEqual([[], []]);
  await batcher.submit("hold", holdOf(10n, { holdId: holdIdOf("own", clock.nowMs) }));
  clock.nowMs += 2 * MINUTE_MS;
  expect(await due()).toEqual([holdIdOf("own", NOON_MS + 2 * MINUTE_MS)]);
  client.close();
});
