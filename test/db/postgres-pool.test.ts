import { expect, test } from "bun:test";
import { readPostgresUrl } from "../../src/db/postgres/connection.ts";
import { createWatchedPool, openPostgres } from "../../src/db/postgres/database.ts";
import { apiKeys } from "../../src/db/postgres/schema.ts";
import { createPostgresReads } from "../../src/ledger/postgres/ledger.ts";
import { openPostgresEnv } from "../ledger/postgres-env.ts";
import { NOON_MS, WALLET } from "../ledger/samples.ts";
import { openTcpProxy, type TcpProxy } from "../ledger-grpc/tcp-proxy.ts";
import { createEmptyDatabase } from "../support/test-database.ts";

// The first test may start a server, and a server counts as vanished only after seconds.

test("key look-ups and balances recover when every connection goes silent", async () => {
  const env = await openPostgresEnv(10n);
  const { url, proxy } = await behindProxy(env.url);
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
  await env.close();
});

test("queries reject while the server is silent, and work again when it answers", async () => {
  const empty = await createEmptyDatabase();
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

test("a running query may take longer, and so may one that waits behind it", async () => {
  const empty = await createEmptyDatabase();
  const { client, close } = createWatchedPool(readPostgresUrl(empty.url), { max: 1 }, 200);
  const slow = client.unsafe("SELECT pg_backend_pid() AS pid FROM pg_sleep(2)");
  const behind = client.unsafe("SELECT pg_backend_pid() AS pid");
  const [first, second] = [await slow, await behind];
  expect([...first]).toEqual([...second]);
  await close();
  await empty.drop();
});

test("closing a pool whose server is gone rejects every query", async () => {
  const empty = await createEmptyDatabase();
  const { url, proxy } = await behindProxy(empty.url);
  const { client, close } = createWatchedPool(readPostgresUrl(url), { max: 1 }, 200);
  await client.unsafe("SELECT 1");
  proxy.swallow("both");
  const asked = Promise.allSettled([client.unsafe("SELECT 1")]);
  // The query and the probe are sent.
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

/** Resolves when the proxy has dropped this many chunks of requests. */
function sent(proxy: TcpProxy, chunks: number): Promise<void> {
  let seen = 0;
  return new Promise((resolve) => {
    proxy.onData = (direction) => {
      if (direction === "requests") seen += 1;
      if (seen === chunks) resolve();
    };
  });
}
