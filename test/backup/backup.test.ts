import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { findOutboxes } from "../../src/settlement-outbox/folder.ts";
import { runTollgate } from "../cli/run-tollgate.ts";
import { askChat } from "../start/paid-key.ts";
import { openProcessFixture, type ProcessFixture } from "../start/process-fixture.ts";
import { gate } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";
import type { ServedProcess } from "../support/served-process.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { until } from "../support/until.ts";

/** A load of a fast machine stays below these limits. */
const SETTINGS = `drain_s: 10
limits: { requests_per_minute: 1000000 }
account_limits: { requests_per_minute: 1000000 }
`;

let fixture: ProcessFixture;
beforeEach(async () => {
  fixture = await openProcessFixture(SETTINGS);
});
afterEach(() => fixture.close());

const database = () => join(fixture.folder, "data", "tollgate.db");
const newBackup = () => join(tempFolder(), "backup");

function run(...commandLine: string[]) {
  return runTollgate(fixture.folder, commandLine);
}

/** Runs a command on a restored database beside the original's configuration. */
function runOn(target: string, ...commandLine: string[]) {
  return runTollgate(fixture.folder, commandLine, { DATABASE_URL: `sqlite:${target}` });
}

function post({ url }: ServedProcess, stream: boolean): Promise<Response> {
  return askChat(url, fixture.secret, stream);
}

async function expectSoundBooks(target: string): Promise<void> {
  const audited = await runOn(target, "audit", "--json");
  expect([audited.exitCode, audited.stderr]).toEqual([0, ""]);
  expect(audited.json()).toMatchObject({ ok: true, findings: [] });
}

test("a backup of a busy gateway is restored elsewhere, its books are sound and its clients go on", async () => {
  const gateway = await fixture.serve();
  let isDone = false;
  const load = (async () => {
    let answered = 0;
    for (; !isDone; answered += 1) expect((await post(gateway, false)).status).toBe(200);
    return answered;
  })();
  const to = newBackup();
  const made = await run("backup", to, "--json");
  expect([made.exitCode, made.stderr]).toEqual([0, ""]);
  isDone = true;
  await load;
  expect(modesBelow(to)).toEqual([0o600]);
  expect(statSync(to).mode & 0o777).toBe(0o700);

  const target = join(tempFolder(), "data", "tollgate.db");
  const early = await runOn(target, "restore", to);
  expect(early).toMatchObject({
    exitCode: 1,
    stderr: "The original is running: stop it first. Two copies would both charge.\n",
  });
  gateway.signal("SIGTERM");
  await gateway.exitCode;
  const restored = await runOn(target, "restore", to, "--json");
  expect([restored.exitCode, restored.stderr]).toEqual([0, ""]);
  expect(restored.json()).toMatchObject({
    epoch: 2,
    restored_from: made.json().instance_id,
    valid: { keys: 1 },
  });
  expect(readdirSync(dirname(target)).sort()).toEqual(["tollgate.db"]);
  await expectSoundBooks(target);
  const next = await fixture.serve({ environment: { DATABASE_URL: `sqlite:${target}` } });
  expect((await post(next, false)).status).toBe(200);
  next.signal("SIGTERM");
  await next.exitCode;
  await expectSoundBooks(target);
});

function modesBelow(folder: string): readonly number[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  return [...new Set(files.map((file) => statSync(join(file.parentPath, file.name)).mode & 0o777))];
}

/** Ends a stream while the ledger is locked, and kills the gateway: its settlement is in the outbox alone. */
async function leaveSettlement(gateway: ServedProcess): Promise<void> {
  const { opened, open } = gate();
  fixture.upstream.on("chat", answerWith(undefined, { pauseAt: { bytes: 700, gate: opened } }));
  const response = await post(gateway, true);
  const lock = new Database(database());
  lock.run("PRAGMA busy_timeout = 60000");
  lock.run("BEGIN IMMEDIATE");
  open();
  expect(await response.text()).toEndWith("data: [DONE]\n\n");
  gateway.signal("SIGKILL");
  await gateway.exitCode;
  lock.run("ROLLBACK");
  lock.close();
}

test("a settlement in the outbox is backed up and charged once after a restore", async () => {
  await leaveSettlement(await fixture.serve());
  const to = newBackup();
  const made = await run("backup", to, "--json");
  expect(made.json()).toMatchObject({ counts: { open_holds: 1, outbox_entries: 1 } });

  const target = join(tempFolder(), "data", "tollgate.db");
  const restored = await runOn(target, "restore", to);
  expect(restored.exitCode).toBe(0);
  expect(restored.stdout).toContain("1 requests were running, with ");
  expect(restored.stdout).toContain("1 settlements in the outbox are booked at the start. 0 of them belong");
  const gateway = await fixture.serve({ environment: { DATABASE_URL: `sqlite:${target}` } });
  await until(() => findOutboxes(dirname(target)).length === 0);
  gateway.signal("SIGTERM");
  await gateway.exitCode;
  const { accounts } = (await runOn(target, "account", "list", "--json")).json();
  expect(accounts).toMatchObject([{ held_usd: "0.00", posted_usd: "99.999975" }]);
  await expectSoundBooks(target);
});

test("a restore into the data folder of the original charges settlements of requests that the copy lacks", async () => {
  const to = newBackup();
  expect((await run("backup", to)).exitCode).toBe(0);
  await leaveSettlement(await fixture.serve());
  const target = join(fixture.folder, "data", "restored.db");
  const restored = await runOn(target, "restore", to, "--json");
  expect(restored.json()).toMatchObject({ open_holds: { count: 0 }, outbox: { entries: 1, unknown: 1 } });
  const gateway = await fixture.serve({ environment: { DATABASE_URL: `sqlite:${target}` } });
  await until(() => findOutboxes(dirname(target)).length === 0);
  expect(gateway.stdout()).not.toContain("settlement declined for good");
  const { accounts } = (await runOn(target, "account", "list", "--json")).json();
  expect(accounts).toMatchObject([{ held_usd: "0.00", posted_usd: "99.999975" }]);
});
