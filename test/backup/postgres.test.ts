import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { SQL } from "bun";
import { createAccount } from "../../src/accounts/accounts.ts";
import { createAuthenticate } from "../../src/accounts/keys/authenticate.ts";
import { issueKey } from "../../src/accounts/keys/keys.ts";
import { openStorage, type Storage } from "../../src/app/storage.ts";
import { claimInstance } from "../../src/db/instance.ts";
import { runTollgate } from "../cli/run-tollgate.ts";
import { FACTS, holdOf } from "../ledger/samples.ts";
import { type PostgresServer, startPostgresServer } from "../support/postgres-server.ts";
import { tempFolder } from "../support/temp-folder.ts";

const NO_TLS = { cert: undefined, key: undefined, ca: undefined };
const LEDGER = { listen: undefined, remote: undefined, tokens: [], tls: NO_TLS };

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgresServer({ isDurable: false });
});
afterAll(() => server.stop());

function open(url: string): Promise<Storage> {
  const database = { dialect: "postgres", url } as const;
  return openStorage({ database, dataFolder: tempFolder(), ledger: LEDGER });
}

/** Runs a program of PostgreSQL. Throws with its output when it fails. */
async function runProgram(name: string, ...options: string[]): Promise<void> {
  const child = Bun.spawn([join(server.programs, name), ...options], { stderr: "pipe" });
  const printed = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(printed);
}

/** Takes and settles holds until `stop`, which resolves with their number. One hold stays open. */
async function spend({ ledger }: Storage, walletId: string) {
  await ledger.hold(holdOf(7n, { walletId, holdId: Bun.randomUUIDv7() }));
  let isStopped = false;
  const running = (async () => {
    let settled = 0;
    for (; !isStopped; settled += 1) {
      const holdId = Bun.randomUUIDv7();
      await ledger.hold(holdOf(10n, { walletId, holdId }));
      await ledger.settle({ walletId, holdId, amount: 3n, facts: FACTS });
    }
    return settled;
  })();
  return async () => {
    isStopped = true;
    return running;
  };
}

function databaseUrl(name: string): string {
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  return url.href;
}

test("a dump under load is restored into a new database, which is used only after restore --in-place", async () => {
  const original = await open(server.url);
  await claimInstance(original.database);
  const account = await createAccount(original, { name: "acme" });
  await original.ledger.topUp({ walletId: account.id, topUpId: "t", amount: 1_000_000n });
  const { secret } = await issueKey(original, { accountId: account.id, name: "laptop" });
  const stop = await spend(original, account.id);
  const dump = join(tempFolder(), "dump");
  await runProgram("pg_dump", "--format=custom", `--file=${dump}`, server.url);
  expect(await stop()).toBeGreaterThan(0);

  const admin = new SQL(server.url, { max: 1 });
  await admin.unsafe("CREATE DATABASE restored");
  await admin.close();
  const url = databaseUrl("restored");
  await runProgram("pg_restore", "--exit-on-error", `--dbname=${url}`, dump);
  const run = (...commandLine: string[]) =>
    runTollgate(tempFolder(), commandLine, { DATABASE_URL: url, PORT: "0" });

  expect(await run("serve")).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("it is a copy, and gateways may still use the original"),
  });
  expect(await run("restore", "--in-place")).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("add --original-is-stopped"),
  });
  const restored = await run("restore", "--in-place", "--original-is-stopped", "--json");
  expect([restored.exitCode, restored.stderr]).toEqual([0, ""]);
  expect(restored.json()).toMatchObject({
    epoch: 2,
    open_holds: { granted_usd: expect.any(String) },
    valid: { keys: 1 },
  });
  expect((await run("audit", "--json")).json()).toMatchObject({ ok: true, findings: [], warnings: [] });
  await expectUsable(url, secret, account.id);
  await original.close();
});

async function expectUsable(url: string, secret: string, walletId: string): Promise<void> {
  const storage = await open(url);
  const { database, ledger } = storage;
  await claimInstance(database);
  expect((await createAuthenticate({ database })(secret)).key.accountId).toBe(walletId);
  await (await spend(storage, walletId))();
  expect((await ledger.balances(walletId)).posted).toBeLessThan(1_000_000n);
  if (database.dialect !== "postgres") throw new Error("expected PostgreSQL");
  const { client } = database.postgres;
  await expect(client.unsafe("DELETE FROM transfers").execute()).rejects.toThrow("append-only");
  const parts = await client.unsafe("SELECT 1 FROM pg_inherits WHERE inhparent = 'holds'::regclass");
  expect(parts.length).toBeGreaterThan(3);
  await storage.close();
}

test("a database that a gateway uses is not taken for a restored one", async () => {
  const storage = await open(server.url);
  await storage.database.ping();
  const options = ["restore", "--in-place", "--original-is-stopped"];
  const refused = await runTollgate(tempFolder(), options, { DATABASE_URL: server.url });
  expect(refused).toMatchObject({ exitCode: 1, stdout: "" });
  expect(refused.stderr).toStartWith("A gateway uses this database: it is not a copy at rest.");
  await storage.close();
});
