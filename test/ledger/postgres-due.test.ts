import { expect, test } from "bun:test";
import { openPostgres } from "../../src/db/postgres/database.ts";
import { createDueRead } from "../../src/ledger/postgres/due.ts";
import { openTcpProxy } from "../ledger-grpc/tcp-proxy.ts";
import { openPostgresEnv } from "./postgres-env.ts";
import { holdIdOf, holdOf, NOON_MS, WALLET } from "./samples.ts";

test("a search for due holds fails when the server vanished, and the next one succeeds", async () => {
  const env = await openPostgresEnv(10n);
  await env.ledger.hold(holdOf(1n, { ttlMs: 1_000 }));
  const url = new URL(env.url);
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
  await env.close();
});
