import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { openPostgres } from "../../src/db/postgres/database.ts";
import { openDatabase } from "../../src/db/sqlite/database.ts";
import { createOutboxFile } from "../../src/settlement-outbox/file.ts";
import { outboxFolder } from "../../src/settlement-outbox/folder.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { createTestDatabase } from "../support/test-database.ts";
import { type Finished, runTollgate } from "./run-tollgate.ts";

const DRIFT = "UPDATE wallets SET posted = posted + 1";

interface AuditedFolder {
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** Creates one account with 5.00 USD. */
async function fill({ folder, environment }: AuditedFolder): Promise<void> {
  const created = await runTollgate(folder, ["account", "create", "--name", "acme"], environment);
  const money = ["topup", "--account", "acme", "--amount", "5.00", "--id", "first"];
  const toppedUp = await runTollgate(folder, money, environment);
  expect([created.exitCode, toppedUp.exitCode]).toEqual([0, 0]);
}

function audit({ folder, environment }: AuditedFolder, ...options: string[]): Promise<Finished> {
  return runTollgate(folder, ["audit", ...options], environment);
}

async function expectDrift(audited: AuditedFolder): Promise<void> {
  const { exitCode, stdout } = await audit(audited);
  expect(exitCode).toBe(1);
  expect(stdout).toMatch(
    /^FINDING {2}I2 does not hold: posted is the sum of the wallet's entries \(account [0-9a-f-]+\)$/m,
  );
  expect(stdout).toMatch(
    /^1 wallet, 0 holds, 1 transfer\. 1 finding \(100 of a kind at most\): the books are NOT consistent\.$/m,
  );
  const printed = await audit(audited, "--json");
  expect(printed.exitCode).toBe(1);
  expect(printed.json()).toMatchObject({ ok: false, findings: [{ invariant: "I2", subject: null }] });
}

describe("tollgate audit", () => {
  test("fails without a database and creates none", async () => {
    const folder = tempFolder();
    const { exitCode, stdout, stderr } = await audit({ folder, environment: {} });
    expect([exitCode, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^There is no file .*: there are no books to audit\. See DATABASE_URL\.\n$/);
    expect(readdirSync(folder)).toEqual([]);
  });

  test("lists the checked invariants, and exits 1 when the books have drifted", async () => {
    const folder = tempFolder();
    const audited = { folder, environment: {} };
    await fill(audited);
    const right = await audit(audited);
    expect(right).toMatchObject({ exitCode: 0, stderr: "" });
    for (const id of ["I1", "I2", "I3", "I4", "I5", "I6", "I7", "I8", "R1", "S1"]) {
      expect(right.stdout).toContain(`checked  ${id}: `);
    }
    expect(right.stdout).toEndWith("1 wallet, 0 holds, 1 transfer. The books are consistent.\n");
    const database = openDatabase(join(folder, "data", "tollgate.db"));
    database.client.run(DRIFT);
    database.close();
    await expectDrift(audited);
  });

  test("lists the checked invariants and finds drift on PostgreSQL", async () => {
    const server = await createTestDatabase();
    const audited = { folder: tempFolder(), environment: { DATABASE_URL: server.url } };
    await fill(audited);
    expect((await audit(audited, "--json")).json()).toMatchObject({ ok: true, wallets: 1, transfers: 1 });
    const database = await openPostgres(server.url);
    await database.client.unsafe(DRIFT);
    await database.close();
    await expectDrift(audited);
    await server.drop();
  });

  test("warns about settlements in an outbox and about an unreadable outbox", async () => {
    const folder = tempFolder();
    const audited = { folder, environment: {} };
    await fill(audited);
    const left = join(outboxFolder(join(folder, "data")), "left.db");
    mkdirSync(dirname(left), { recursive: true });
    const journal = createOutboxFile(left);
    await journal.append(
      ["h1", "h2"].map((holdId) => ({ holdId, text: "{}" })),
      0,
    );
    await Bun.write(join(dirname(left), "torn.db.damaged"), "torn");
    const { exitCode, stdout } = await audit(audited);
    expect(exitCode).toBe(0);
    expect(stdout).toContain(`${left}: 2 settlements wait for the ledger, or were rejected by it\n`);
    expect(stdout).toContain(
      "torn.db.damaged: it is damaged or of a later version, and may contain settlements\n",
    );
    expect((await audit(audited, "--json")).json()).toMatchObject({
      ok: true,
      journals: [{ entries: 2, is_readable: true }, { is_readable: false }],
    });
    journal.close();
  });
});
