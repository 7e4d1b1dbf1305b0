import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Account } from "../../../src/accounts/accounts.ts";
import type { Actor } from "../../../src/accounts/audit-trail.ts";
import { suspendAccount } from "../../../src/accounts/suspension.ts";
import { readPayments } from "../../../src/config/payments.ts";
import { parseUsd } from "../../../src/domain/money.ts";
import { DIALECTS } from "../../accounts/temp-storage.ts";
import { CALLER_SECRET, signCall } from "../../support/signed-call.ts";
import type { TestConsole } from "../../support/test-console.ts";
import { untilDayLasts } from "../../support/until.ts";
import { openConsoleOn } from "./open-consoles.ts";

const secretOf = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString("base64")}`;
const OLD_SECRET = secretOf(8);
const BANK_SECRET = secretOf(9);
const SMALL_SECRET = secretOf(10);

function callerOf(id: string, secrets: readonly string[], maxima: readonly [string, string]) {
  return { id, secrets, callMax: parseUsd(maxima[0]), dayMax: parseUsd(maxima[1]) };
}

const CALLERS = [
  callerOf("shop", [CALLER_SECRET, OLD_SECRET], ["100", "100000"]),
  callerOf("bank", [BANK_SECRET], ["100", "100000"]),
  callerOf("small", [SMALL_SECRET], ["10", "25"]),
];

describe.each(DIALECTS)("signed calls in %s", (dialect) => {
  let console: TestConsole;
  let account: Account;
  let owner: Actor;
  beforeAll(async () => {
    console = await openConsoleOn(
      dialect,
      {},
      {
        config: { payments: { ...readPayments({}), callers: CALLERS } },
      },
    );
  });
  afterAll(() => console.stop());
  beforeEach(async () => {
    account = await console.newAccount();
    owner = await console.newMember(account.id, "owner");
  });

  /** Sends a body over HTTP, signed unless headers are given. */
  async function send(
    body: string,
    {
      caller = "shop",
      secret = CALLER_SECRET,
      headers = signCall(body, { secret }),
    }: { caller?: string; secret?: string; headers?: HeadersInit } = {},
  ) {
    const url = `${console.gateway.url}/console/api/signed/${caller}`;
    const response = await fetch(url, { method: "POST", headers, body });
    const text = await response.text();
    return { status: response.status, text, json: JSON.parse(text) };
  }

  const newId = () => `pay-${crypto.randomUUID()}`;
  const topUp = (id: string, more: object = {}) =>
    JSON.stringify({ type: "top_up", id, account: account.id, amount_usd: "10.00", ...more });
  const reversal = (id: string, payment: string, amount: string, more: object = {}) =>
    JSON.stringify({ type: "reversal", id, payment, amount_usd: amount, ...more });
  const walletNow = async () => (await console.call(owner, "GET", `/accounts/${account.id}/wallet`)).json;
  const availableNow = async () => (await walletNow()).available_usd;

  test("a payment is credited once, however often its call comes", async () => {
    const id = newId();
    const body = topUp(id, { amount_usd: "10.000000001", reason: "Order 17" });
    const answers = await Promise.all(Array.from({ length: 10 }, () => send(body)));
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(answers.filter(({ json }) => !json.replayed)).toHaveLength(1);
    expect(answers[0]?.json).toMatchObject({
      id: `signed:shop:${id}`,
      account_id: account.id,
      amount_usd: "10.000000001",
      left_usd: "10.000000001",
    });
    expect(await availableNow()).toBe("10.000000001");
    const trail = `/accounts/${account.id}/audit-trail`;
    const { json } = await console.call(owner, "GET", `${trail}?actor_kind=payment_caller`);
    expect(json.items).toHaveLength(1);
    expect((await console.call(owner, "GET", `${trail}?actor_kind=api_key`)).json.items).toEqual([]);
    expect((await console.call(owner, "GET", `${trail}?actor_kind=robot`)).status).toBe(422);
    const own = json.items.filter(({ target }: { target: string }) => target === `signed:shop:${id}`);
    expect(own).toHaveLength(1);
    expect(own[0]).toMatchObject({
      actor_kind: "payment_caller",
      actor_id: "shop",
      action: "wallet.topped_up",
      after: { amount_usd: "10.000000001", source: "purchase", reason: "Order 17" },
    });
  });

  test("an id with another amount, account, source or end is a conflict", async () => {
    const id = newId();
    expect((await send(topUp(id))).status).toBe(200);
    const other = await console.newAccount();
    const changes = [
      { amount_usd: "10.01" },
      { account: other.id },
      { source: "promotion" },
      { expires_at: "2099-01-01T00:00:00Z" },
    ];
    for (const change of changes) {
      expect([change, (await send(topUp(id, change))).status]).toEqual([change, 409]);
    }
    expect(await availableNow()).toBe("10.00");
  });

  test("two callers with one payment id credit two payments", async () => {
    const id = newId();
    await send(topUp(id));
    await send(topUp(id), { caller: "bank", secret: BANK_SECRET });
    expect(await availableNow()).toBe("20.00");
  });

  test("both secrets of a rotation sign, and those of other callers do not", async () => {
    expect((await send(topUp(newId()), { secret: OLD_SECRET })).status).toBe(200);
    for (const [caller, secret] of [
      ["shop", BANK_SECRET],
      ["bank", CALLER_SECRET],
      ["nobody", CALLER_SECRET],
      ["nobody", `whsec_${"A".repeat(32)}`],
    ] as const) {
      const { status, json } = await send(topUp(newId()), { caller, secret });
      expect([caller, status, json.error.code]).toEqual([caller, 400, "invalid_request"]);
    }
    expect(await availableNow()).toBe("10.00");
  });

  test("forged, changed, old and repeated headers are refused with the same bytes", async () => {
    const body = topUp(newId());
    const good = signCall(body);
    const twice = new Headers(good);
    twice.append("webhook-signature", good["webhook-signature"]);
    const answers = await Promise.all([
      send(body, { headers: {} }),
      send(body.replace("10.00", "10.01"), { headers: good }),
      send(`${body}\n`, { headers: good }),
      send(body, { headers: { ...good, "webhook-id": "msg_2" } }),
      send(body, { headers: signCall(body, { atMs: Date.now() - 400_000 }) }),
      send(body, { headers: signCall(body, { atMs: Date.now() + 400_000 }) }),
      send(body, { headers: twice }),
      send(body, { caller: "nobody" }),
    ]);
    expect(new Set(answers.map(({ status, json }) => `${status} ${json.error.message}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(400);
    expect(await availableNow()).toBe("0.00");
  });

  test("a call has a credit with its source and end", async () => {
    const expiresAtMs = Date.now() + 86_400_000;
    const more = { source: "promotion", expires_at: new Date(expiresAtMs).toISOString() };
    expect((await send(topUp(newId(), more))).status).toBe(200);
    const { items } = await console.parts.ledger.credits(account.id, { size: 10 });
    expect(items).toMatchObject([{ source: "promotion", expiresAtMs, left: parseUsd("10") }]);
    expect((await send(topUp(newId(), { expires_at: "2020-01-01T00:00:00Z" }))).status).toBe(422);
  });

  test("a reversal takes its payment off once, and several together at most the payment", async () => {
    const id = newId();
    await send(topUp(id));
    await send(topUp(newId()));
    const first = reversal(newId(), id, "4.00", { reason: "Returned" });
    const answers = await Promise.all(Array.from({ length: 5 }, () => send(first)));
    expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(200));
    expect(answers.filter(({ json }) => !json.replayed)).toHaveLength(1);
    expect(await availableNow()).toBe("16.00");
    const others = await Promise.all(Array.from({ length: 4 }, () => send(reversal(newId(), id, "3.00"))));
    expect(others.map(({ status }) => status).sort()).toEqual([200, 200, 409, 409]);
    expect(await availableNow()).toBe("10.00");
    expect((await send(reversal(newId(), id, "0.000000001"))).status).toBe(409);
    const { json } = await console.call(owner, "GET", `/accounts/${account.id}/wallet/transfers`);
    expect(
      json.items.map(({ kind, reason }: { kind: string; reason: string }) => [kind, reason]),
    ).toContainEqual(["correction", "Returned"]);
  });

  test("a reversal of an unknown payment, and of another caller's, is not found", async () => {
    const id = newId();
    await send(topUp(id));
    expect((await send(reversal(newId(), newId(), "1"))).status).toBe(404);
    const bank = { caller: "bank", secret: BANK_SECRET };
    expect((await send(reversal(newId(), id, "1"), bank)).status).toBe(404);
    expect(await availableNow()).toBe("10.00");
  });

  test("a payment of a suspended account is credited, and one of an unknown account is not", async () => {
    const actor = { kind: "system", id: "system", name: "system" } as const;
    await suspendAccount(console.parts, actor, account.id, "test");
    expect((await send(topUp(newId()))).status).toBe(200);
    expect(await availableNow()).toBe("10.00");
    for (const id of ["nothing", account.name, "%00"]) {
      expect((await send(topUp(newId(), { account: id }))).status).toBe(404);
    }
  });

  test("a caller adds at most its maximum in a call, and in a day among concurrent calls", async () => {
    await untilDayLasts();
    const small = { caller: "small", secret: SMALL_SECRET };
    const above = await send(topUp(newId(), { amount_usd: "10.000000001" }), small);
    expect([above.status, above.json.error.code]).toEqual([403, "forbidden"]);
    const paid = newId();
    expect((await send(topUp(paid, { amount_usd: "5" }), small)).status).toBe(200);
    const bodies = Array.from({ length: 6 }, () => topUp(newId()));
    const answers = await Promise.all(bodies.map((body) => send(body, small)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 403, 403, 403, 403]);
    expect(await availableNow()).toBe("25.00");
    // What is taken back does not make room, and what was booked is still answered.
    expect((await send(reversal(newId(), paid, "5"), small)).status).toBe(200);
    expect((await send(topUp(newId(), { amount_usd: "1" }), small)).status).toBe(403);
    expect((await send(topUp(paid, { amount_usd: "5" }), small)).json).toMatchObject({ replayed: true });
  });

  test.each([
    { amount_usd: "0" },
    { amount_usd: "-1" },
    { amount_usd: "1e1" },
    { amount_usd: "1.0000000001" },
    { amount_usd: 5 },
    { id: "" },
    { id: "a".repeat(81) },
    { id: "a:b" },
    { id: "a b" },
    { id: "\u0000" },
    { type: "mint" },
    { type: "reversal" },
    { source: "refund" },
    { expires_at: "tomorrow" },
    { reason: "a\u0000b" },
    { reason: "a".repeat(201) },
    { account: undefined },
    { more: 1 },
  ])("a call with %j is refused, though it is signed", async (change) => {
    expect((await send(topUp(newId(), change))).status).toBe(422);
    expect(await availableNow()).toBe("0.00");
  });

  test("signed bodies that are no JSON, too large or of another kind are refused", async () => {
    const statuses = [];
    for (const body of ["", "{", "[]", "null", "1", '"top_up"', " ".repeat(16 * 1024 + 1)]) {
      statuses.push((await send(body)).status);
    }
    expect(statuses).toEqual([400, 400, 422, 422, 422, 422, 413]);
  });

  test("a signed call creates redeem codes once, within the maxima of its caller", async () => {
    const codes = (id: string, more: object = {}) =>
      JSON.stringify({ type: "codes", id, amount_usd: "20", count: 5, ...more });
    const id = newId();
    const answers = await Promise.all([1, 2, 3].map(() => send(codes(id))));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    const made = answers.find(({ status }) => status === 200)?.json;
    expect(made).toMatchObject({ id: `codes:shop:${id}`, codes: Array(5).fill({ amount_usd: "20.00" }) });
    const path = `/accounts/${account.id}/wallet/redeem`;
    expect((await console.call(owner, "POST", path, { code: made.codes[0].code })).status).toBe(200);
    expect(await availableNow()).toBe("20.00");
    const listed = (await console.call(console.newOperator(), "GET", "/operator/codes")).json.items;
    const own = listed.filter(({ note }: { note: string }) => note === `codes:shop:${id}`);
    expect(own.map(({ created_by }: { created_by: string }) => created_by)).toEqual(Array(5).fill("shop"));
    expect((await send(codes(newId(), { count: 6 }))).status).toBe(403);
    for (const more of [
      { count: 101 },
      { amount_usd: "0" },
      { expires_at: "2020-01-01T00:00:00Z" },
      { credit_days: 0 },
    ]) {
      expect((await send(codes(newId(), more))).status).toBe(422);
    }
  });

  test("the longest ids fit the ledger", async () => {
    const id = "p".repeat(80);
    expect((await send(topUp(id))).status).toBe(200);
    expect((await send(reversal(id, id, "10"))).status).toBe(200);
    expect(await availableNow()).toBe("0.00");
  });

  test("no secret or signature is in the log", async () => {
    const body = topUp(newId());
    const headers = signCall(body);
    await send(body, { headers });
    await send(`${body} `, { headers });
    const log = console.gateway.log.text();
    expect(log).toContain("signed call applied");
    for (const text of [CALLER_SECRET, OLD_SECRET, headers["webhook-signature"].slice(3)]) {
      expect(log).not.toContain(text);
      expect(log).not.toContain(text.replace("whsec_", ""));
    }
  });
});
