import { beforeEach, describe, expect, test } from "bun:test";
import type { Account } from "../../src/accounts/accounts.ts";
import { issueKey } from "../../src/accounts/keys/keys.ts";
import { createProject } from "../../src/accounts/project-changes.ts";
import { runCodeCreate } from "../../src/cli/money.ts";
import { runReceipt, runReceipts } from "../../src/cli/receipts.ts";
import { runUsage, type UsageOptions } from "../../src/cli/usage.ts";
import { runStatement, runWallet } from "../../src/cli/wallet.ts";
import { parseUsd } from "../../src/domain/money.ts";
import { readMonth } from "../../src/domain/month.ts";
import type { Scope } from "../../src/domain/scope.ts";
import { redeemCode } from "../../src/payments/redeem-codes.ts";
import { statementLines } from "../../src/payments/statement-digest.ts";
import { storageForTests } from "../accounts/temp-storage.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { runTollgate } from "./run-tollgate.ts";

const USAGE = {
  inputTokens: 10,
  cachedInputTokens: 3,
  cacheWriteTokens: 2,
  cacheWrite1hTokens: 1,
  outputTokens: 7,
};

const storage = storageForTests();
let account: Account;
let keyId: string;
beforeEach(async () => {
  account = await storage.newAccount("acme");
  keyId = (await issueKey(storage, { accountId: account.id, name: "batch" })).key.id;
  await storage.ledger.topUp({ walletId: account.id, topUpId: "first", amount: parseUsd("10") });
});

const now = () => storage.clock.nowMs;

async function hold(usd: string, key = keyId): Promise<string> {
  const holdId = Bun.randomUUIDv7("hex", now());
  const amount = parseUsd(usd);
  const facts = { surface: "chat", model: "demo" };
  const request = { walletId: account.id, holdId, keyId: key, amount, minimum: amount, ttlMs: 60_000, facts };
  await storage.ledger.hold(request);
  return holdId;
}

async function spend(usd: string, outcome = "ok"): Promise<string> {
  const holdId = await hold(usd);
  const facts = {
    outcome,
    source: "reported",
    upstream: "u",
    usage: USAGE,
    totalMs: 5,
    attempts: [],
  } as const;
  await storage.ledger.settle({ walletId: account.id, holdId, amount: parseUsd(usd), facts });
  return holdId;
}

describe("wallet", () => {
  test("shows the equation, transfers and running holds", async () => {
    const spent = await spend("1.5");
    const held = await hold("2");
    const { json, text } = await runWallet(storage, { account: "acme" }, now);
    expect(json).toMatchObject({
      account_id: account.id,
      posted_usd: "8.50",
      held_usd: "2.00",
      credit_usd: "0.00",
      available_usd: "6.50",
      running: 1,
      transfers: [
        { seq: 2, kind: "settlement", request_id: spent, amount_usd: "-1.50", balance_after_usd: "8.50" },
        { seq: 1, kind: "top_up", id: "first", request_id: null },
      ],
      holds: [{ request_id: held, granted_usd: "2.00", model: "demo" }],
    });
    expect(text).toContain("= available");
    expect(text).toContain("6.50 USD");
  });

  test("of an unknown account is refused", () =>
    expect(runWallet(storage, { account: "nothing" })).rejects.toThrow("There is no account"));
});

describe("usage", () => {
  test("sums by a dimension, and names keys", async () => {
    await spend("1.5");
    storage.clock.nowMs += 86_400_000;
    await spend("0.5", "client_closed");
    const byKey = await runUsage(storage, { account: "acme", by: { by: "key" } }, () => now() + 1);
    const sums = {
      requests: 2,
      errors: 1,
      cost_usd: "2.00",
      input_tokens: 20,
      cached_input_tokens: 6,
      cache_write_tokens: 6,
    };
    expect(byKey.json).toMatchObject({ rows: [{ group: keyId, group_name: "batch", ...sums }], total: sums });
    const byDay = await runUsage(storage, { account: "acme" }, () => now() + 1);
    expect(byDay.json.rows).toMatchObject([
      { group: "2026-06-01T00:00:00.000Z", cost_usd: "1.50" },
      { group: "2026-06-02T00:00:00.000Z", cost_usd: "0.50" },
    ]);
    const byOutcome = await runUsage(
      storage,
      { account: "acme", by: { by: "outcome" }, from: now() },
      () => now() + 1,
    );
    expect(byOutcome.json.rows).toMatchObject([{ group: "client_closed", requests: 1 }]);
    expect(byOutcome.text).toContain("total");
  });

  test("says which cost the margin leaves out, where the upstream cost is unknown", async () => {
    await spend("1.5");
    const report = await runUsage(storage, { account: "acme" }, () => now() + 1);
    expect(report.json.total).toMatchObject({
      cost_usd: "1.50",
      margin_usd: "0.00",
      unknown_cost_usd: "1.50",
    });
    expect(report.text).toEndWith("The margin leaves out 1.50 USD of cost whose upstream cost is unknown.");
    const empty = await runUsage(storage, { account: "acme", to: now() - 1 });
    expect(empty.text).not.toContain("leaves out");
  });

  test("is grouped by project and tag, and of one project, end user or tag", async () => {
    const search = await createProject(storage, { accountId: account.id, name: "Search" });
    const scopes: readonly Scope[] = [
      { kind: "project", id: search.id },
      { kind: "end_user", id: "alice" },
      { kind: "tag", id: "team=blue" },
    ];
    const charge = { walletId: account.id, keyId, facts: { surface: "chat", model: "m" } };
    const outcome = { outcome: "ok", source: "reported", attempts: [] } as const;
    await storage.ledger.charge({ ...charge, chargeId: "c", scopes, amount: parseUsd("3"), outcome });
    await spend("1.5");
    const rows = async (options: Partial<UsageOptions>) => {
      const { json } = await runUsage(storage, { account: "acme", ...options }, () => now() + 1);
      // Safe because the command prints rows.
      const printed = json.rows as readonly Record<string, unknown>[];
      return printed.map((row) => [row.group, row.group_name, row.cost_usd]);
    };
    expect(await rows({ by: { by: "project" } })).toEqual([
      [search.id, "Search", "3.00"],
      [account.id, "Default", "1.50"],
    ]);
    expect(await rows({ by: { by: "tag", tagKey: "team" } })).toEqual([
      ["blue", null, "3.00"],
      [null, null, "1.50"],
    ]);
    const byUser = await runUsage(storage, { account: "acme", by: { by: "end_user" } }, () => now() + 1);
    expect(byUser.text.split("\n").map((line) => line.split(/ {2,}/)[0])).toContain("no end user");
    for (const only of [{ project: "Search" }, { user: "alice" }, { tag: ["team=blue"] }]) {
      expect(await rows({ by: { by: "key" }, ...only })).toEqual([[keyId, "batch", "3.00"]]);
    }
    expect(await rows({ user: "bob" })).toEqual([]);
    const both = { project: "Search", user: "alice" };
    expect(await rows({ by: { by: "key" }, ...both, key: keyId })).toEqual([[keyId, "batch", "3.00"]]);
    expect(await rows({ ...both, tag: ["team=red"] })).toEqual([]);
    expect(await rows({ ...both, model: "none" })).toEqual([]);
    const nine = runUsage(storage, { account: "acme", tag: Array<string>(9).fill("team=blue") });
    await expect(nine).rejects.toMatchObject({ exitCode: 2 });
    await expect(runUsage(storage, { account: "acme", project: "None" })).rejects.toThrow("has no project");
  });

  test("of a range that ends before it begins is refused", async () => {
    await expect(runUsage(storage, { account: "acme", from: 5, to: 5 })).rejects.toMatchObject({
      exitCode: 2,
    });
  });
});

describe("receipts", () => {
  test("lists the newest that match", async () => {
    const first = await spend("1");
    storage.clock.nowMs += 1;
    const second = await spend("0.5", "client_closed");
    const all = await runReceipts(storage, { account: "acme" });
    expect(all.json.receipts).toMatchObject([
      { request_id: second, outcome: "client_closed", charged_usd: "0.50" },
      { request_id: first, outcome: "ok", charged_usd: "1.00", input_tokens: 10, output_tokens: 7 },
    ]);
    const limited = await runReceipts(storage, { account: "acme", limit: 1 });
    expect(limited.json.receipts).toMatchObject([{ request_id: second }]);
    const matching = await runReceipts(storage, { account: "acme", key: keyId, outcome: "ok" });
    expect(matching.json.receipts).toMatchObject([{ request_id: first }]);
    expect(matching.text).toContain(first);
  });

  test("of another account's key, and beyond the limit, are refused", async () => {
    const other = await storage.newAccount();
    const { key } = await issueKey(storage, { accountId: other.id, name: "k" });
    const listing = runReceipts(storage, { account: "acme", key: key.id });
    await expect(listing).rejects.toThrow("no such key");
    await expect(runReceipts(storage, { account: "acme", limit: 1_001 })).rejects.toMatchObject({
      exitCode: 2,
    });
  });
});

describe("receipt", () => {
  test("shows a request of any account by its id, with the account and the upstream cost", async () => {
    const id = await spend("1.25");
    const { json, text } = await runReceipt(storage, ` ${id.toUpperCase()}\n`);
    expect(json.receipts).toMatchObject([
      {
        account: "acme",
        account_id: account.id,
        request_id: id,
        charged_usd: "1.25",
        upstream_cost_usd: null,
      },
    ]);
    expect(text).toMatch(/^account_id +[\w-]+\naccount +acme\nobject +receipt\n/);
  });

  test("of an unknown request, and of a text that is no id, is refused", async () => {
    await expect(runReceipt(storage, Bun.randomUUIDv7())).rejects.toThrow("There is no receipt");
    await expect(runReceipt(storage, "acme")).rejects.toMatchObject({ exitCode: 2 });
  });
});

describe("statement", () => {
  beforeEach(async () => {
    const other = await storage.newAccount("other");
    await spend("1.5");
    const refunded = await spend("0.5");
    storage.clock.nowMs += 31 * 86_400_000;
    await storage.ledger.refund({
      walletId: account.id,
      refundId: "r",
      holdId: refunded,
      amount: parseUsd("0.5"),
    });
    await storage.ledger.topUp({ walletId: other.id, topUpId: "t", amount: parseUsd("3") });
  });

  test("sums a month of every account by kind, so that the closing is the next opening", async () => {
    const june = await runStatement(storage, { month: "2026-06" }, now);
    expect(june.json).toMatchObject({
      month: "2026-06",
      is_running: false,
      accounts: [
        {
          account: "acme",
          opening_usd: "0.00",
          topped_up_usd: "10.00",
          charged_usd: "2.00",
          closing_usd: "8.00",
        },
        { account: "other", closing_usd: "0.00", transfers: 0 },
      ],
      total: { closing_usd: "8.00", transfers: 3 },
    });
    const july = await runStatement(storage, { month: "2026-07" }, now);
    expect(july.json).toMatchObject({
      is_running: true,
      accounts: [
        { opening_usd: "8.00", refunded_usd: "0.50", charged_usd: "0.00", closing_usd: "8.50" },
        { opening_usd: "0.00", topped_up_usd: "3.00", closing_usd: "3.00" },
      ],
      total: { opening_usd: "8.00", topped_up_usd: "3.00", refunded_usd: "0.50", closing_usd: "11.50" },
    });
    expect(july.text).toEndWith("The month is not over: its closing is that of now.");
  });

  test("is one page of one account, with the digest of the file of its transfers", async () => {
    const sheet = { month: "2026-06", account: "acme", sheet: true } as const;
    const { json, text } = await runStatement(storage, sheet, now);
    expect(json).toMatchObject({
      granted: [{ source: "purchase", amount_usd: "10.00" }],
      charged_usd: "2.00",
      closing_usd: "8.00",
      projects: [{ id: account.id, charged_usd: "2.00" }],
      keys: [{ id: keyId, charged_usd: "2.00" }],
    });
    const parts = { ...storage, now };
    const file = await Array.fromAsync(await statementLines(parts, account.id, readMonth("2026-06")));
    const sha256 = Bun.CryptoHasher.hash("sha256", file.join(""), "hex");
    expect(json.digest).toEqual({ sha256, transfers: 3, closing_usd: "8.00" });
    expect(text).toContain(sha256);
    expect((await runStatement(storage, { ...sheet, csv: true }, now)).text).toContain("charged,,,-2.00,");
    const running = await runStatement(storage, { ...sheet, month: "2026-07" }, now);
    expect(running.json).toMatchObject({ is_running: true, digest: null });
    const all = runStatement(storage, { month: "2026-06", sheet: true }, now);
    await expect(all).rejects.toMatchObject({ exitCode: 2 });
  });

  test("is split by project, so that its lines sum to the change of the balance", async () => {
    const { json, text } = await runStatement(storage, { month: "2026-06", by: "project" }, now);
    expect(json).toMatchObject({
      month: "2026-06",
      by: "project",
      accounts: [
        {
          account: "acme",
          opening_usd: "0.00",
          closing_usd: "8.00",
          lines: [
            { kind: "project", id: account.id, name: "Default", charged_usd: "2.00", change_usd: "-2.00" },
            { kind: "wallet", topped_up_usd: "10.00", change_usd: "10.00" },
          ],
        },
        { account: "other", lines: [{ kind: "project", transfers: 0 }] },
      ],
    });
    expect(text).toContain("Default");
    const csv = (await runStatement(storage, { month: "2026-06", by: "key", csv: true }, now)).text.split(
      "\r\n",
    );
    expect(csv[0]).toStartWith("account_id,account,kind,id,name,charged_usd");
    expect(csv[2]).toBe(`${account.id},acme,key,${keyId},batch,2.00,0.00,0.00,0.00,0.00,-2.00,2,`);
  });

  test("shows the month before without another one, one account, and CSV", async () => {
    const { json, text } = await runStatement(storage, { account: "other", csv: true }, now);
    expect(json.month).toBe("2026-06");
    const [head, row, total] = text.split("\r\n");
    expect(head).toBe(
      "account_id,account,opening_usd,topped_up_usd,charged_usd,refunded_usd,expired_usd,other_usd,closing_usd,transfers",
    );
    expect(row).toEndWith(",other,0.00,0.00,0.00,0.00,0.00,0.00,0.00,0");
    expect(total).toBe(",total,0.00,0.00,0.00,0.00,0.00,0.00,0.00,0");
    await expect(runStatement(storage, { month: "June" }, now)).rejects.toMatchObject({ exitCode: 2 });
  });
});

describe("code create", () => {
  test("prints codes that can be redeemed, and records the command line as their author", async () => {
    const options = { amount: parseUsd("3"), count: 2, note: "gift", expiresInDays: 1 };
    const { json, text } = await runCodeCreate(storage, options, now);
    const codes = json.codes as { code: string }[];
    expect(codes).toHaveLength(2);
    expect(json.expires_at).toBe("2026-06-02T00:00:00.000Z");
    const actor = { kind: "system", id: "s", name: "s" } as const;
    for (const { code } of codes) {
      expect(text).toContain(code);
      await redeemCode(storage, actor, { accountId: account.id, text: code });
    }
    expect((await storage.ledger.balances(account.id)).posted).toBe(parseUsd("16"));
    const { db, tables } = storage.database;
    const entries = await db.select().from(tables.auditEntries);
    const created = entries.filter(({ action }) => action === "code.created");
    expect(created.map(({ actorKind }) => actorKind)).toEqual(["command_line", "command_line"]);
  });

  test.each([0, 101])("of %i codes is refused", async (count) => {
    await expect(runCodeCreate(storage, { amount: 1n, count })).rejects.toMatchObject({ exitCode: 2 });
  });
});

describe("the command line", () => {
  test("prints one JSON object with --json, and refuses wrong options with exit code 2", async () => {
    const folder = tempFolder();
    await runTollgate(folder, ["account", "create", "--name", "acme"]);
    const commands = [
      ["wallet", "--account", "acme"],
      [
        "usage",
        "--account",
        "acme",
        "--by",
        "model",
        "--from",
        "2026-01-01",
        "--to",
        "2026-01-02T10:00+02:00",
      ],
      ["receipts", "--account", "acme", "--limit", "5", "--state", "settled"],
      ["statement", "--month", "2026-06"],
      ["code", "create", "--amount", "5.00", "--count", "2", "--note", "gift"],
    ];
    for (const command of commands) {
      const { exitCode, json, stderr } = await runTollgate(folder, [...command, "--json"]);
      expect([exitCode, stderr]).toEqual([0, ""]);
      expect(Object.keys(json()).length).toBeGreaterThan(1);
    }
    const wrong = [
      ["usage", "--account", "acme", "--from", "yesterday"],
      ["usage", "--account", "acme", "--by", "colour"],
      ["receipts"],
      ["code", "create", "--amount", "0"],
      ["code", "create", "--amount", "1", "--count", "101"],
    ];
    for (const command of wrong) expect((await runTollgate(folder, command)).exitCode).toBe(2);
  });
});
