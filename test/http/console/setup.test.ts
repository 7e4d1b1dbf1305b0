import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Actor } from "../../../src/accounts/audit-trail.ts";
import { createConsole } from "../../../src/http/console/entry.ts";
import { createProviderPage } from "../../../src/setup/provider-page.ts";
import { tempFolder } from "../../support/temp-folder.ts";
import { openTestConsole, type TestConsole } from "../../support/test-console.ts";

const KEY = "sk-ant-canary-of-the-console";
const WISH = { provider: "anthropic", key: KEY };
const MODELS = ["anthropic/claude-sonnet-5"];
const folder = tempFolder();
let console: TestConsole;

beforeAll(async () => {
  console = await openTestConsole();
});
afterAll(() => console.stop());

/** Calls the console of a gateway that knows its files, whose provider accepts every key. */
async function call(actor: Actor, method: string, path: string, body?: object) {
  const providers = createProviderPage({
    place: { folder, configPath: join(folder, "tollgate.yaml"), envPath: join(folder, ".env") },
    hasPeers: async () => false,
    check: async () => ({ state: "accepted", models: ["claude-sonnet-5"] }),
    now: Date.now,
  });
  const entry = createConsole({ ...console.parts, platform: { ...console.parts.platform, providers } });
  const headers = {
    origin: console.parts.settings.publicUrl,
    "x-test-actor": actor.id,
    "content-type": "application/json",
  };
  const url = `${console.parts.settings.publicUrl}/console/api/operator/setup${path}`;
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await entry(new Request(url, { method, headers, ...sent }), "192.0.2.9");
  return { status: answer.status, text: await answer.text() };
}

test("an owner reaches no part of the set-up, and an operator gives the password first", async () => {
  const owner = await console.newMember((await console.newAccount()).id, "owner");
  const session = { id: Bun.randomUUIDv7(), mustChangePassword: false, confirmedAtMs: 0 };
  const stale = console.newOperator({ session });
  for (const [method, path, body] of [
    ["GET", "", undefined],
    ["POST", "/proof", WISH],
    ["POST", "", { ...WISH, models: MODELS }],
  ] as const) {
    expect((await call(owner, method, path, body)).status).toBe(403);
    if (method === "POST") expect((await call(stale, method, path, body)).status).toBe(403);
  }
  expect(existsSync(join(folder, ".env"))).toBe(false);
});

test("an operator adds a provider: the key is in .env alone, and the audit trail names what was added", async () => {
  const operator = console.newOperator();
  const proof = await call(operator, "POST", "/proof", WISH);
  expect(JSON.parse(proof.text)).toMatchObject({ state: "accepted", models: [{ id: MODELS[0] }] });
  const added = await call(operator, "POST", "", { ...WISH, models: MODELS });
  expect(JSON.parse(added.text)).toMatchObject({ state: "written", models: ["claude-sonnet-5"], yaml: null });
  expect(readFileSync(join(folder, ".env"), "utf8")).toBe(`ANTHROPIC_API_KEY=${KEY}\n`);
  const { db, tables } = console.parts.database;
  const entries = (await db.select().from(tables.auditEntries)).filter(
    ({ action }) => action === "settings.provider_added",
  );
  expect(entries).toMatchObject([{ target: "anthropic", after: '{"models":["claude-sonnet-5"]}' }]);
  const state = await call(operator, "GET", "");
  expect(state.text).toContain('"upstream":"anthropic"');
  expect([proof.text, added.text, state.text, JSON.stringify(entries)].join("")).not.toContain(KEY);
});

test("a set-up with an address, or with a key of several lines, is refused", async () => {
  const operator = console.newOperator();
  const bodies = [
    { ...WISH, base_url: "http://169.254.169.254" },
    { ...WISH, key: "a\nLEDGER_TOKEN=b" },
    { provider: "x".repeat(65) },
    { provider: "azure", key: KEY, place: "evil.example/" },
  ];
  for (const body of bodies) expect((await call(operator, "POST", "/proof", body)).status).toBe(422);
});
