import { afterAll, beforeAll, expect, test } from "bun:test";
import { tempFolder } from "../support/temp-folder.ts";
import { createTestDatabase, type TestDatabase } from "../support/test-database.ts";
import { runTollgate } from "./run-tollgate.ts";

let database: TestDatabase;
const run = (...commandLine: string[]) =>
  runTollgate(tempFolder(), commandLine, { DATABASE_URL: database.url });

beforeAll(async () => {
  database = await createTestDatabase();
  for (const name of ["acme", "umbrella"]) {
    const { exitCode, stderr } = await run("account", "create", "--name", name);
    expect([exitCode, stderr]).toEqual([0, ""]);
  }
});
afterAll(() => database.drop());

test("an account name that is taken is rejected", async () => {
  const again = await run("account", "create", "--name", "acme");
  expect(again).toMatchObject({ exitCode: 1, stderr: 'There is an account "acme" already.\n' });
});

test("two concurrent top-ups with one id are booked once", async () => {
  const topUp = ["topup", "--account", "acme", "--amount", "0.000000001", "--id", "wire 7", "--json"];
  const both = await Promise.all([run(...topUp), run(...topUp)]);
  expect(both.map((each) => each.json().replayed).sort()).toEqual([false, true]);
  const other = await run("topup", "--account", "acme", "--amount", "2", "--id", "wire 7");
  expect(other.stderr).toBe("The id was used before with other values: nothing was booked.\n");
  const listed = (await run("account", "list", "--json")).json().accounts;
  expect(listed).toMatchObject([{ posted_usd: "0.000000001" }, { posted_usd: "0.00" }]);
});

test("a key is printed once, listed without its secret and revoked by its hint", async () => {
  const options = ["--spending-limit", "5.00", "--reset", "week", "--models", "demo", "--allow-clamp"];
  const created = await run("key", "create", "--account", "acme", "--name", "ci", ...options, "--json");
  const { key: secret, ...facts } = created.json();
  expect(facts).toMatchObject({ models: ["demo"], allows_clamp: true, requests_per_minute: null });
  expect(facts.spending_limit).toMatchObject({ amount_usd: "5.00", reset: "week", used_usd: "0.00" });
  const listed = await run("key", "list", "--account", "acme", "--json");
  expect(listed.json()).toEqual({ keys: [facts] });
  expect(listed.stdout).not.toContain(String(secret));
  const revoked = await run("key", "revoke", String(facts.hint), "--json");
  expect(revoked.json()).toMatchObject({ id: facts.id, revoked: true, replayed: false });
});

test("a refund of an unknown receipt fails", async () => {
  const receipt = Bun.randomUUIDv7();
  const failed = await run("refund", "--account", "acme", "--receipt", receipt, "--id", "r");
  expect(failed).toMatchObject({ exitCode: 1, stderr: "The account has no such receipt.\n" });
});

test("the audit finds the books consistent", async () => {
  const audited = await run("audit", "--json");
  expect(audited.exitCode).toBe(0);
  expect(audited.json()).toMatchObject({ ok: true, wallets: 2, findings: [] });
});

test("an unreachable server is an error that contains no password", async () => {
  const DATABASE_URL = "postgres://user:s3cr3t@127.0.0.1:1/d";
  const failed = await runTollgate(tempFolder(), ["account", "list", "--json"], { DATABASE_URL });
  expect(failed).toMatchObject({ exitCode: 1, stdout: "" });
  expect(failed.stderr).toMatch(/^The database cannot be used: [^\n]+\.\n$/);
  expect(failed.stderr).not.toContain("s3cr3t");
});
