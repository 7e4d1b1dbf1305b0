import { expect, test } from "bun:test";
import { openPostgres } from "../../src/db/postgres/database.ts";
import { createDueRead } from "../../src/ledger/postgres/due.ts";
import { openTcpProxy } from "../ledger-grpc/tcp-proxy.ts";
import { openPostgresBooks } from "./postgres-env.ts";
import { holdIdOf, holdOf, NOON_MS, WALLET } from "./samples.ts";

// The first test may have to start a server.

test("a search for due holds whose server vanished fails, and the next one finds them", async () => {
  const books = await openPostgresBooks(10n);
  await books.ledger.hold(holdOf(1n, { ttlMs: 1_000 }));
  const url = new URL(books.url);
  const proxy = await openTcpProxy(Number(url.port));
  url.port = proxy.address.replace(/^.*:/, "");
  const database = await openPostgres(url.href);
  const due = createDueRead(database, () => NOON_MS + 2_000, 1_000);
  const found = [{ walletId: WALLET, holdId: holdIdOf("h1") }];
  expect(await due.find(10)).toEqual(found);

  proxy.swallow("both");
  await expect(due.find(10)).rejects.toThrow();
  proxy.heal();
  expect(await Promise.all([due.find(10), due.find(10)])).toEqual([found, found]);

  await due.close();
  await database.close();
  await proxy.close();
  await books.close();
});
