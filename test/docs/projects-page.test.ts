import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectDatabase } from "../../src/db/database.ts";
import { addMember } from "../accounts/actors.ts";
import { type ServedProcess, startServedProcess } from "../support/served-process.ts";
import { AGENT_PROGRAM, AGENT_RUN, MAKE_CHILD, MEMBER_COMMANDS, PROJECT_COMMANDS } from "./project-blocks.ts";
import { createReaderShell } from "./reader-shell.ts";

const folder = mkdtempSync(join(tmpdir(), "tollgate-docs-"));
const shell = createReaderShell(folder);
let served: ServedProcess;
/** An account with a key that may make keys. */
let accountId: string;
let key: string;

beforeAll(async () => {
  served = await startServedProcess({ folder, environment: shell.environment });
  const account = await run("bun tollgate account create --name acme --json");
  accountId = JSON.parse(account).id;
  await run("bun tollgate topup --account acme --amount 10.00 --id invoice-1");
  key = JSON.parse(
    await run("bun tollgate key create --account acme --name root --allow-children --json"),
  ).key;
});

afterAll(async () => {
  served.signal("SIGTERM");
  await served.exitCode;
  rmSync(folder, { recursive: true });
});

async function run(text: string, environment: Readonly<Record<string, string>> = {}): Promise<string> {
  const { exitCode, stdout, stderr } = await shell.paste(text, environment);
  expect([text, exitCode], stderr).toEqual([text, 0]);
  return stdout;
}

test("the commands of projects succeed one after the other", async () => {
  let KEY_ID = "";
  for (const line of PROJECT_COMMANDS.text.trimEnd().split("\n")) {
    const printed = await run(line, { KEY_ID });
    if (line.includes("key create")) KEY_ID = /\(([\da-f-]{36})\)/.exec(printed)?.[1] ?? "";
  }
  const { projects } = JSON.parse(await run("bun tollgate project list --account acme --json"));
  expect(projects[1]).toMatchObject({
    name: "Find",
    archived_at: expect.any(String),
    keys: 1,
    spending_limit: { amount_usd: "500.00", reset: "month" },
    end_user_limit: { amount_usd: "1.00", reset: "day" },
  });
});

test("the commands of members limit each of them, and one", async () => {
  const database = await connectDatabase({ dialect: "sqlite", path: join(folder, "data/tollgate.db") });
  await addMember(database, accountId, "developer", { email: "ada@example.com" });
  await database.close();
  for (const line of MEMBER_COMMANDS.text.trimEnd().split("\n")) await run(line);
});

test("a key makes a child, with which Claude Code sends its requests", async () => {
  const environment = { BASE: served.url, KEY: key };
  const child = JSON.parse(await run(MAKE_CHILD.text, environment));
  expect(child).toMatchObject({ name: "nightly triage", models: ["demo"] });
  const models = { ANTHROPIC_MODEL: "demo", ANTHROPIC_DEFAULT_HAIKU_MODEL: "demo" };
  const answers = await run(AGENT_PROGRAM.text, { ...environment, ...models, RUN: child.secret });
  expect(answers).toContain("triage the open issues");
});

test("the run of an agent ends with a 402 once its money is spent", async () => {
  const cheap = AGENT_RUN.text.replace('"2.00"', '"0.002"');
  const { stdout, stderr } = await shell.run(cheap, { BASE: served.url, KEY: key });
  expect(stderr).toBe("");
  expect(stdout).toMatch(/^The run ended: 402 /);
  expect(stdout).toContain("spending limit");
});
