import { beforeAll, describe, expect, test } from "bun:test";
import type { Account } from "../../../src/accounts/accounts.ts";
import type { Actor } from "../../../src/accounts/audit-trail.ts";
import { issueKey } from "../../../src/accounts/keys/keys.ts";
import { parseUsd } from "../../../src/domain/money.ts";
import type { Ledger } from "../../../src/ledger/ledger.ts";
import { DIALECTS } from "../../accounts/temp-storage.ts";
import { untilDayLasts } from "../../support/until.ts";
import { consoleForTests } from "./open-consoles.ts";

await untilDayLasts();
const MONTH = new Date().toISOString().slice(0, 7);
const READS = [
  "",
  "/transfers",
  "/holds",
  "/statements",
  `/statement.csv?month=${MONTH}`,
  `/statements/${MONTH}/sheet`,
  `/statements/${MONTH}/digest`,
  `/statement.csv?month=${MONTH}&sheet=true`,
  "/proof",
  "/checkouts/cs_test_1",
] as const;

describe.each(DIALECTS)("the wallet's routes in %s", (dialect) => {
  const console = consoleForTests(dialect);
  let ledger: Ledger;
  let account: Account;
  let viewer: Actor;
  let keyId: string;
  beforeAll(async () => {
    ledger = console.parts.ledger;
    account = await console.newAccount();
    viewer = await console.newMember(account.id, "viewer");
    const { database } = console.parts;
    keyId = (await issueKey({ database, ledger }, { accountId: account.id, name: "batch" })).key.id;
    for (let top = 1; top <= 7; top += 1) await topUp(`top-${top}`, "1.000000001");
  });

  const topUp = (topUpId: string, usd: string) =>
    ledger.topUp({ walletId: account.id, topUpId, amount: parseUsd(usd) });
  const get = (path: string, actor: Actor | undefined = viewer) =>
    console.call(actor, "GET", `/accounts/${account.id}/wallet${path}`);

  async function hold(usd: string): Promise<string> {
    const holdId = Bun.randomUUIDv7();
    const amount = parseUsd(usd);
    const facts = { surface: "chat", model: "chat" };
    await ledger.hold({ walletId: account.id, holdId, keyId, amount, minimum: amount, ttlMs: 60_000, facts });
    return holdId;
  }

  test("members of every role see the equation, whose terms add up", async () => {
    const holdId = await hold("2.5");
    for (const role of ["owner", "developer", "viewer"] as const) {
      const { json } = await get("", await console.newMember(account.id, role));
      expect(json).toMatchObject({ held_usd: "2.50", credit_usd: "0.00", running: 1, state: "active" });
      const sum = parseUsd(json.posted_usd) - parseUsd(json.held_usd) + parseUsd(json.credit_usd);
      expect(sum).toBe(parseUsd(json.available_usd));
    }
    await ledger.release({
      walletId: account.id,
      holdId,
      facts: { outcome: "ok", source: "none", attempts: [] },
    });
  });

  test("transfers are read page by page, newest first, and by time", async () => {
    const first = (await get("/transfers?size=3")).json;
    expect(first.items.map(({ id }: { id: string }) => id)).toEqual(["top-7", "top-6", "top-5"]);
    expect(first.items[0]).toMatchObject({
      seq: 7,
      kind: "top_up",
      amount_usd: "1.000000001",
      balance_after_usd: "7.000000007",
      request_id: null,
    });
    const second = (await get(`/transfers?size=100&page=${first.next}`)).json;
    expect([second.items.length, second.next]).toEqual([4, null]);
    expect((await get("/transfers?to=2020-01-01T00:00:00Z")).json.items).toEqual([]);
    expect((await get("/transfers?from=2020-01-01T00:00:00Z")).json.items).toHaveLength(7);
    const ids = async (kind: string) => {
      const { items } = (await get(`/transfers?kind=${kind}&size=2`)).json;
      return items.map(({ id }: { id: string }) => id);
    };
    expect([await ids("top_up"), await ids("refund")]).toEqual([["top-7", "top-6"], []]);
  });

  test.each([
    "/transfers?page=nothing",
    "/transfers?size=0",
    "/transfers?size=201",
    "/transfers?size=x",
    "/transfers?from=yesterday",
    "/transfers?kind=gift",
    "/holds?page=%00",
    "/statement.csv",
    "/statement.csv?month=2026-13",
    "/statement.csv?month=2026-1",
    "/statement.csv?month=../../etc/passwd",
  ])("%s is refused", async (path) => expect((await get(path)).status).toBe(422));

  test("running holds name their key and their age", async () => {
    const holdId = await hold("0.25");
    await ledger.extend({ walletId: account.id, holdId, accrued: parseUsd("0.1"), ttlMs: 60_000 });
    const { json } = await get("/holds");
    expect(json.items).toHaveLength(1);
    expect(json.items[0]).toMatchObject({
      request_id: holdId,
      key_id: keyId,
      key_name: "batch",
      model: "chat",
      granted_usd: "0.25",
      accrued_usd: "0.10",
    });
    expect(Date.parse(json.items[0].expires_at)).toBeGreaterThan(Date.parse(json.items[0].created_at));
    await ledger.release({
      walletId: account.id,
      holdId,
      facts: { outcome: "ok", source: "none", attempts: [] },
    });
  });

  test("the statement of this month is a file whose lines end at the balance", async () => {
    const { headers, text, status } = await get(`/statement.csv?month=${MONTH}`);
    expect(status).toBe(200);
    expect(headers.get("content-type")).toStartWith("text/csv");
    expect(headers.get("content-disposition")).toBe(`attachment; filename="statement-${MONTH}.csv"`);
    expect(headers.get("cache-control")).toBe("no-store");
    const lines = text.trimEnd().split("\r\n");
    expect(lines[0]).toBe("time,kind,id,request_id,amount_usd,balance_usd,reason");
    expect(lines.at(-1)).toMatch(/,closing,,,,7\.000000007,$/);
    const { json } = await get("/statements");
    expect(json.items[0]).toEqual({
      month: MONTH,
      opening_usd: "0.00",
      closing_usd: "7.000000007",
      lines: 7,
    });
  });

  test("the proof adds up", async () => {
    expect((await get("/proof")).json).toMatchObject({
      top_ups_usd: "7.000000007",
      computed_posted_usd: "7.000000007",
      posted_usd: "7.000000007",
      held_sum_usd: "0.00",
      transfers: 7,
      open_holds: 0,
      is_busy: false,
      ok: true,
    });
  });

  test.each(READS)("%p of another account is not found, and without a session refused", async (path) => {
    const stranger = await console.newMember((await console.newAccount()).id, "owner");
    for (const other of [stranger, console.newOperator()]) {
      const answer = await get(path, other);
      expect([answer.status, answer.json.error.code]).toEqual([404, "model_not_found"]);
    }
    const signedOut = await console.call(undefined, "GET", `/accounts/${account.id}/wallet${path}`);
    expect([signedOut.status, signedOut.json.error.code]).toEqual([401, "not_authenticated"]);
  });

  test("a token of one wallet's page opens no page of another", async () => {
    const { next } = (await get("/transfers?size=3")).json;
    const other = await console.newAccount();
    const owner = await console.newMember(other.id, "owner");
    const answer = await console.call(owner, "GET", `/accounts/${other.id}/wallet/transfers?page=${next}`);
    expect(answer.status).toBe(422);
  });
});
