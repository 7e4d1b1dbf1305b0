import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { SQL } from "bun";
import { openPostgres } from "../../src/db/postgres/database.ts";
import { auditPostgres } from "../../src/ledger/audit/audit.ts";
import type { LocalLedger } from "../../src/ledger/engine/local.ts";
import { createPostgresLedger } from "../../src/ledger/postgres/ledger.ts";
import { createPostgresStore } from "../../src/ledger/postgres/store.ts";
import { startPostgresServer } from "../support/postgres-server.ts";
import { type CuttingProxy, startCuttingProxy } from "./cutting-proxy.ts";
import { openPostgresBooks, type PostgresBooks } from "./postgres-env.ts";
import { FACTS, holdIdOf, holdOf, refusalOf, WALLET } from "./samples.ts";

// The first test may have to start a server.

const BALANCES = { posted: 93n, held: 4n, available: 89n };

/** Commands of one batch: each stands on the one before it. */
function batch(ledger: LocalLedger): Promise<unknown>[] {
  const [walletId, holdId] = [WALLET, holdIdOf("h1")];
  return [
    ledger.hold(holdOf(10n)),
    ledger.extend({ walletId, holdId, accrued: 3n, ttlMs: 60_000 }),
    ledger.settle({ walletId, holdId, amount: 8n, facts: FACTS }),
    ledger.topUp({ walletId, topUpId: "t1", amount: 1n }),
    refusalOf(ledger.settle({ walletId, holdId, amount: 9n, facts: FACTS })),
    ledger.hold(holdOf(4n, { holdId: holdIdOf("h2") })),
  ];
}

const ANSWERS = [
  { granted: 10n, replayed: false },
  undefined,
  { state: "settled", captured: 8n, replayed: false },
  { replayed: false, balances: { posted: 93n } },
  "conflict",
  { granted: 4n, replayed: false, balances: BALANCES },
];

describe("a connection that ends", () => {
  let books: PostgresBooks;
  let proxy: CuttingProxy;
  let ledger: LocalLedger;

  beforeEach(async () => {
    books = await openPostgresBooks(100n);
    proxy = await startCuttingProxy(books.url);
    ledger = await books.openAnother({ url: proxy.url, busyMaxMs: 4_000 });
  });

  afterEach(async () => {
    const findings = await books.audit();
    await books.close();
    await proxy.close();
    expect(findings).toEqual([]);
  });

  test.each(["before commit", "after commit"] as const)(
    "%s leaves no trace in the answers: each is the first one",
    async (cut) => {
      const isCut = proxy.cutNext(cut);
      const given = batch(ledger);
      await isCut;
      expect(await Promise.all(given)).toMatchObject(ANSWERS);
      expect(await ledger.balances(WALLET)).toEqual(BALANCES);
    },
  );

  test("between two batches is not noticed by anybody", async () => {
    await ledger.hold(holdOf(1n));
    await books.client.unsafe(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
    expect(await ledger.hold(holdOf(1n, { holdId: holdIdOf("h2") }))).toMatchObject({ replayed: false });
  });

  test("for good makes commands unavailable, at once while it lasts, and no longer than it lasts", async () => {
    proxy.shut();
    expect(await refusalOf(ledger.hold(holdOf(1n)))).toBe("unavailable");
    const startedMs = performance.now();
    const cpu = process.cpuUsage();
    expect(await refusalOf(ledger.hold(holdOf(1n)))).toBe("unavailable");
    // The first one has waited for four seconds.
    expect(performance.now() - startedMs).toBeLessThan(3_500);
    expect(await refusalOf(ledger.ping())).toBe("unavailable");
    await Bun.sleep(500);
    expect(process.cpuUsage(cpu).user / 1_000).toBeLessThan(250);
    proxy.open();
    await untilTaken(() => ledger.hold(holdOf(1n)));
    expect(await books.ledger.balances(WALLET)).toMatchObject({ held: 1n });
  });

  test("for good while a commit is not answered leaves its commands to be asked after", async () => {
    const isCut = proxy.cutNext("after commit").then(proxy.shut);
    const refused = refusalOf(ledger.hold(holdOf(7n)));
    await isCut;
    expect(await refused).toBe("unavailable");
    proxy.open();
    await untilTaken(() => ledger.hold(holdOf(7n)));
    expect(await ledger.hold(holdOf(7n))).toMatchObject({ granted: 7n, replayed: true });
    expect(await ledger.balances(WALLET)).toMatchObject({ held: 7n });
  });

  test("lets the ledger be closed while it lasts", async () => {
    proxy.shut();
    expect(await refusalOf(ledger.hold(holdOf(1n)))).toBe("unavailable");
    await ledger.close();
  });
});

test("of a transaction of another server, or of another life of this one, nothing is known", async () => {
  const books = await openPostgresBooks(0n);
  const database = await openPostgres(books.url);
  const store = createPostgresStore({ database, now: undefined });
  const [row] = await database.client.unsafe("SELECT pg_current_xact_id()::text AS id");
  expect(await store.commitStatusOf?.(`${row.id} 7000000000000000000 00000001`)).toBe("unknown");
  await store.close();
  await database.close();
  await books.close();
});

test("a server killed under load loses nothing that was answered, and the ledger goes on when it is back", async () => {
  const server = await startPostgresServer();
  const database = await openPostgres(server.url);
  const ledger = createPostgresLedger({ database, busyMaxMs: 500 });
  await ledger.createWallet(WALLET);
  await ledger.topUp({ walletId: WALLET, topUpId: "funds", amount: 1_000_000_000n });
  const load = startLoad(ledger);
  for (let round = 0; round < 3; round++) {
    await load.untilMore(200);
    await server.kill();
    await load.untilRefused();
    await server.start();
  }
  await load.untilMore(200);
  await load.stop();
  expect(load.strays).toEqual([]);

  const client = new SQL(server.url, { max: 1 });
  const stored: { hold_id: string }[] = await client.unsafe("SELECT hold_id::text FROM holds");
  const ids = new Set(stored.map(({ hold_id }) => hold_id));
  expect(load.taken.filter((holdId) => !ids.has(holdId))).toEqual([]);
  expect((await auditPostgres(database, Date.now())).findings).toEqual([]);
  await client.close();
  await ledger.close();
  await database.close();
  await server.stop();
});

/** 64 callers that take holds as fast as they can, and never give up. */
function startLoad(ledger: LocalLedger) {
  const taken: string[] = [];
  const strays: unknown[] = [];
  let refused = 0;
  let isStopped = false;
  const call = async () => {
    while (!isStopped) {
      const holdId = Bun.randomUUIDv7();
      try {
        await ledger.hold(holdOf(1n, { holdId }));
        taken.push(holdId);
      } catch (error) {
        refused++;
        if (!(error instanceof Error && error.message === "unavailable")) strays.push(error);
        await Bun.sleep(5);
      }
    }
  };
  const callers = Array.from({ length: 64 }, call);
  const until = async (isSo: () => boolean) => {
    while (!isSo()) await Bun.sleep(2);
  };
  return {
    taken,
    strays,
    untilMore(count: number) {
      const wanted = taken.length + count;
      return until(() => taken.length >= wanted);
    },
    untilRefused() {
      const wanted = refused + 1;
      return until(() => refused >= wanted);
    },
    async stop() {
      isStopped = true;
      await Promise.all(callers);
    },
  };
}

async function untilTaken(give: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await give();
      return;
    } catch {
      await Bun.sleep(10);
    }
  }
}
