import { beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openDatabase } from "../../src/db/sqlite/database.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { runTollgate } from "./run-tollgate.ts";

const SECRET = /^sk-tg-[\w-]{43}$/;

describe("the command line", () => {
  let folder: string;
  const run = (...commandLine: string[]) => runTollgate(folder, commandLine);
  beforeAll(async () => {
    folder = tempFolder();
    const created = await run("account", "create", "--name", "acme", "--email", "a@acme.example", "--json");
    expect(created.json()).toMatchObject({ name: "acme", email: "a@acme.example", available_usd: "0.00" });
  });

  test("books two concurrent top-ups with one id once", async () => {
    const topUp = ["topup", "--account", "acme", "--amount", "0.000000001", "--id", "wire 7", "--json"];
    const both = await Promise.all([run(...topUp), run(...topUp)]);
    expect(both.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    expect(both.map((each) => each.json().replayed).sort()).toEqual([false, true]);
    for (const each of both)
      expect(each.json()).toMatchObject({ available_usd: "0.000000001", amount_usd: "0.000000001" });
    const again = await run(...topUp.slice(0, -1));
    expect(again.stdout).toBe(
      "Top-up wire 7 was booked before: nothing was added. 0.000000001 USD are available.\n",
    );
    const other = await run("topup", "--account", "acme", "--amount", "2", "--id", "wire 7", "--json");
    expect(other).toMatchObject({ exitCode: 1, stdout: "" });
    expect(other.stderr).toBe("The id was used before with other values: nothing was booked.\n");
  });

  test("takes money off once that was credited by mistake, when it is confirmed", async () => {
    await run("account", "create", "--name", "mistaken");
    await run("topup", "--account", "mistaken", "--amount", "1000", "--id", "t1");
    const correct = ["correct", "--account", "mistaken", "--amount", "990", "--id", "c1", "--reason", "typo"];
    const hidden = await run(...correct.slice(0, -1), "typo\u202eelbuod\nT2", "--yes");
    expect(hidden).toMatchObject({ exitCode: 2, stdout: "" });
    expect(hidden.stderr).toContain("Expected 1 to 100 characters in one line.");
    const unconfirmed = await run(...correct);
    expect(unconfirmed).toMatchObject({ exitCode: 1, stdout: "" });
    expect(unconfirmed.stderr).toBe(
      "Nothing was changed: 1000.00 USD are available, and 10.00 USD would be. Repeat the command with --yes.\n",
    );
    const done = await run(...correct, "--yes");
    expect(done.stdout).toBe("Took 990.00 USD off account mistaken. 10.00 USD are available.\n");
    const again = await run(...correct, "--yes", "--json");
    expect(again.json()).toMatchObject({ replayed: true, amount_usd: "990.00", available_usd: "10.00" });
    const { transfers } = (await run("wallet", "--account", "mistaken", "--json")).json();
    expect(transfers).toMatchObject([{ kind: "correction", amount_usd: "-990.00", reason: "typo" }, {}]);
  });

  test("prints a key once, lists it without its secret and revokes it by its hint", async () => {
    const options = ["--spending-limit", "5.00", "--reset", "week", "--models", "demo", "--allow-clamp"];
    const limits = ["--requests-per-minute", "7", "--tokens-per-minute", "0", "--concurrent-requests", "2"];
    const tiers = ["--tiers", "priority,flex"];
    const created = await run(
      "key",
      "create",
      "--account",
      "acme",
      "--name",
      "ci",
      ...options,
      ...tiers,
      ...limits,
      "--json",
    );
    const { key: secret, ...facts } = created.json();
    expect(secret).toMatch(SECRET);
    expect(facts).toMatchObject({
      name: "ci",
      requests_per_minute: 7,
      tokens_per_minute: 0,
      concurrent_requests: 2,
      models: ["demo"],
      tiers: ["priority", "flex"],
      allows_clamp: true,
      spending_limit: { amount_usd: "5.00", reset: "week", used_usd: "0.00" },
      expires_at: null,
    });
    const listed = await run("key", "list", "--json");
    expect(listed.json()).toEqual({ keys: [facts] });
    expect(listed.stdout).not.toContain(String(secret));
    const revoked = await run("key", "revoke", String(facts.hint), "--json");
    expect(revoked.json()).toMatchObject({ id: facts.id, revoked: true, replayed: false });
    expect((await run("key", "list")).stdout).toMatch(/sk-tg-.{4} +ci .* revoked 2/);
  });

  test("rejects models that are not in the catalog", async () => {
    const failed = await run("key", "create", "--account", "acme", "--name", "x", "--models", "demo,nope");
    expect(failed).toMatchObject({ exitCode: 1, stdout: "", stderr: "The catalog has no model nope.\n" });
  });

  test("waits for a writer that has locked the database", async () => {
    const database = openDatabase(join(folder, "data", "tollgate.db"));
    database.client.run("BEGIN IMMEDIATE");
    const running = [
      run("topup", "--account", "acme", "--amount", "1", "--id", "busy", "--json"),
      run("key", "create", "--account", "acme", "--name", "busy", "--json"),
    ];
    await Bun.sleep(600);
    database.client.run("ROLLBACK");
    database.close();
    const finished = await Promise.all(running);
    expect(finished.map(({ exitCode, stderr }) => [exitCode, stderr])).toEqual([
      [0, ""],
      [0, ""],
    ]);
  });

  test("audits the books and finds them consistent", async () => {
    const audited = await run("audit", "--json");
    expect(audited.exitCode).toBe(0);
    expect(audited.json()).toMatchObject({ ok: true, wallets: 2, findings: [] });
  });
});

describe("a wrong command line", () => {
  test.each([
    ["a missing command", []],
    ["an unknown command", ["fly"]],
    ["an unknown option", ["audit", "--fast"]],
    ["a missing option", ["topup", "--account", "acme", "--amount", "1"]],
    ["an amount of zero", ["topup", "--account", "a", "--amount", "0", "--id", "x"]],
    ["an unknown period", ["key", "create", "--account", "a", "--name", "n", "--reset", "year"]],
  ])("exits with 2 and creates no file: %s", async (_, commandLine) => {
    const folder = tempFolder();
    const { exitCode, stdout, stderr } = await runTollgate(folder, commandLine);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).not.toBe("");
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe("a command that fails", () => {
  test("prints the reason in one sentence without a secret", async () => {
    const environment = { DATABASE_URL: "mysql://u:s3cr3t@h/d" };
    const { exitCode, stdout, stderr } = await runTollgate(
      tempFolder(),
      ["account", "list", "--json"],
      environment,
    );
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toContain("DATABASE_URL: is not the URL of a supported database");
    expect(stderr).not.toContain("s3cr3t");
  });

  test("reports a file that is not a database", async () => {
    const folder = tempFolder();
    writeFileSync(join(folder, "x.db"), "no database ".repeat(1_000));
    const failed = await runTollgate(folder, ["account", "list"], { DATABASE_URL: "sqlite:x.db" });
    expect(failed).toMatchObject({ exitCode: 1, stdout: "" });
    expect(failed.stderr).toBe("The database cannot be used: file is not a database.\n");
  });
});

describe("serve", () => {
  test.each(["PORT", "LEDGER_LISTEN", "METRICS_LISTEN"])(
    "fails when the port of %s is taken",
    async (name) => {
      const taken = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
      const address = `127.0.0.1:${taken.port}`;
      const environment = { PORT: "0", [name]: name === "PORT" ? String(taken.port) : address };
      const failed = await runTollgate(tempFolder(), ["serve"], environment);
      await taken.stop(true);
      expect(failed.exitCode).toBe(1);
      expect(failed.stderr).toContain(`at ${address}: another program, or a gateway that runs already`);
      expect(failed.stderr).toContain(`Change ${name}`);
    },
  );

  test("names a data folder that it cannot create", async () => {
    const folder = tempFolder();
    writeFileSync(join(folder, "data"), "");
    const failed = await runTollgate(folder, ["serve"], { PORT: "0" });
    expect(failed.stderr).toContain("data cannot be written (EEXIST). TOLLGATE_DATA");
  });

  test("prints every problem of the configuration and creates no file", async () => {
    const folder = tempFolder();
    const failed = await runTollgate(folder, ["serve"], { PORT: "high", LOG_LEVEL: "loud" });
    expect(failed).toMatchObject({ exitCode: 1, stdout: "" });
    expect(failed.stderr).toMatch(/PORT: .*\n.*LOG_LEVEL: /);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe("check", () => {
  test("accepts an empty folder and creates no file", async () => {
    const folder = tempFolder();
    const checked = await runTollgate(folder, ["check", "--json"]);
    expect(checked.exitCode).toBe(0);
    expect(checked.json()).toMatchObject({ ok: true, problems: [], models: ["demo"] });
    expect(readdirSync(folder)).toEqual([]);
  });

  test("reports a data folder that cannot be created", async () => {
    const folder = tempFolder();
    writeFileSync(join(folder, "file"), "");
    const checked = await runTollgate(folder, ["check"], { TOLLGATE_DATA: "./file/data" });
    expect(checked).toMatchObject({ exitCode: 1 });
    expect(checked.stdout).toStartWith("TOLLGATE_DATA: cannot be created");
  });

  test("prints every problem and exits with 1", async () => {
    const folder = tempFolder();
    writeFileSync(join(folder, "tollgate.yaml"), "drain_s: soon\ncolour: red\n");
    const checked = await runTollgate(folder, ["check"], { PORT: "high" });
    expect(checked.exitCode).toBe(1);
    expect(
      checked.stdout
        .trim()
        .split("\n")
        .map((line) => line.split(":")[0]),
    ).toEqual(["PORT", "colour", "drain_s"]);
    expect(existsSync(join(folder, "data"))).toBe(false);
  });
});
