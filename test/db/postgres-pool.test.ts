import { expect, test } from "bun:test";
import { readPostgresUrl } from "../../src/db/postgres/connection.ts";
import { openPostgres } from "../../src/db/postgres/database.ts";
import { apiKeys } from "../../src/db/postgres/schema.ts";
import { createWatchedPool } from "../../src/db/postgres/watched-pool.ts";
import { createPostgresReads } from "../../src/ledger/postgres/reads.ts";
import { openPostgresBooks } from "../ledger/postgres-books.ts";
import { NOON_MS, WALLET } from "../ledger/samples.ts";
import { openTcpProxy, type TcpProxy } from "../ledger-grpc/tcp-proxy.ts";
import { createTestDatabase } from "../support/postgres-server.ts";

// The first test may have to start a server; and it takes seconds until one counts as vanished.

test("key look-ups and balances go on when the server vanished from every connection", async () => {
  const books = await openPostgresBooks(10n);
  const { url, proxy } = await behindProxy(books.url);
  const { db, client, close } = await openPostgres(url);
  const reads = createPostgresReads({ client, now: () => NOON_MS });
  await Promise.all([1, 2, 3, 4].map(() => client.unsafe("SELECT pg_sleep(0.05)")));

  proxy.swallow("both");
  const startedAtMs = performance.now();
  const lookUp = Promise.allSettled([db.select().from(apiKeys)]);
  const balance = reads.balances(WALLET);
  await sent(proxy, 2);
  proxy.heal();
  expect(await lookUp).toMatchObject([{ status: "rejected" }]);
  expect(await balance).toMatchObject({ available: 10n });
  expect(await db.select().from(apiKeys)).toEqual([]);
  expect(performance.now() - startedAtMs).toBeLessThan(60_000);

  await close();
  await proxy.close();
  await books.close();
});

test("queries reject when the server does not answer anybody, and work again when it does", async () => {
  const empty = await createTestDatabase();
  const { url, proxy } = await behindProxy(empty.url);
  const { client, close } = createWatchedPool(readPostgresUrl(url), { max: 2 }, 200);
  await client.unsafe("SELECT 1");

  proxy.swallow("both");
  await expect(client.unsafe("SELECT 1").execute()).rejects.toThrow();
  proxy.heal();
  expect([...(await client.unsafe("SELECT 1 AS one"))]).toEqual([{ one: 1 }]);

  await close();
  await proxy.close();
  await empty.drop();
});

test("a query that the server works on may take longer, and one that waits behind it too", async () => {
  const empty = await createTestDatabase();
  const { client, close } = createWatchedPool(readPostgresUrl(empty.url), { max: 1 }, 200);
  const slow = client.unsafe("SELECT pg_backend_pid() AS pid FROM pg_sleep(2)");
  const behind = client.unsafe("SELECT pg_backend_pid() AS pid");
  const [first, second] = [await slow, await behind];
  expect([...first]).toEqual([...second]);
  await close();
  await empty.drop();
});

test("a pool that is closed while its server is gone leaves no query open", async () => {
  const empty = await createTestDatabase();
  const { url, proxy } = await behindProxy(empty.url);
  const { client, close } = createWatchedPool(readPostgresUrl(url), { max: 1 }, 200);
  await client.unsafe("SELECT 1");
  proxy.swallow("both");
  const asked = Promise.allSettled([client.unsafe("SELECT 1")]);
  // The query and then the probe are under way.
  await sent(proxy, 2);
  await close();
  expect(await asked).toMatchObject([{ status: "rejected" }]);
  await expect(client.unsafe("SELECT 1").execute()).rejects.toThrow();
  await proxy.close();
  await empty.drop();
});

async function behindProxy(text: string) {
  const url = new URL(text);
  const proxy = await openTcpProxy(Number(url.port));
  url.port = proxy.address.replace(/^.*:/, "");
  return { url: url.href, proxy };
}

/** Until so many pieces of requests have reached the proxy, and been swallowed. */
function sent(proxy: TcpProxy, pieces: number): Promise<void> {
  let seen = 0;
  return new Promise((resolve) => {
    proxy.onData = (direction) => {
      if (direction === "requests") seen += 1;
      if (seen === pieces) resolve();
    };
  });
}
