import { beforeAll, describe, expect, test } from "bun:test";
import type { Account } from "../../../src/accounts/accounts.ts";
import type { Actor } from "../../../src/accounts/audit-trail.ts";
import { issueKey } from "../../../src/accounts/keys/keys.ts";
import { createProject } from "../../../src/accounts/project-changes.ts";
import { parseUsd } from "../../../src/domain/money.ts";
import type { Scope } from "../../../src/domain/scope.ts";
import { DIALECTS } from "../../accounts/temp-storage.ts";
import { untilDayLasts } from "../../support/until.ts";
import { consoleForTests } from "./open-consoles.ts";

await untilDayLasts();
const MONTH = new Date().toISOString().slice(0, 7);

describe.each(DIALECTS)("a split statement in the console on %s", (dialect) => {
  const console = consoleForTests(dialect);
  let account: Account;
  let developer: Actor;
  let projectId: string;
  let keyId: string;
  beforeAll(async () => {
    const { database } = console.parts;
    const parts = { database, ledger: console.gateway.tollgate.ledger };
    account = await console.newAccount();
    developer = await console.newMember(account.id, "developer");
    projectId = (await createProject(parts, { accountId: account.id, name: `Search ${dialect}` })).id;
    keyId = (await issueKey(parts, { accountId: account.id, name: "batch" })).key.id;
    await parts.ledger.topUp({ walletId: account.id, topUpId: "t", amount: parseUsd("10") });
    await spend("1.000000001", [{ kind: "project", id: projectId }]);
    await spend("2", []);
  });

  async function spend(usd: string, scopes: readonly Scope[]): Promise<void> {
    const { ledger } = console.gateway.tollgate;
    const [walletId, holdId, amount] = [account.id, Bun.randomUUIDv7(), parseUsd(usd)];
    const facts = { surface: "chat", model: "chat" };
    await ledger.hold({ walletId, holdId, keyId, scopes, amount, minimum: amount, ttlMs: 60_000, facts });
    await ledger.settle({
      walletId,
      holdId,
      amount,
      facts: { outcome: "ok", source: "reported", attempts: [] },
    });
  }

  const get = (path: string, actor = developer, id = account.id) =>
    console.call(actor, "GET", `/accounts/${id}/wallet${path}`);

  test("is for whom the account's owner says, on every month, and the change is in the audit trail", async () => {
    const owner = await console.newMember(account.id, "owner");
    const path = `/accounts/${account.id}/billing-details`;
    const named = { name: "Acme Ltd", address: "1 Main St\nSpringfield", tax_id: "GB 123" };
    expect((await console.call(developer, "PUT", path, named)).status).toBe(403);
    expect((await get(`/statements/${MONTH}/sheet`)).json.customer).toEqual({
      name: account.name,
      address: null,
      tax_id: null,
    });
    expect((await console.call(owner, "PUT", path, named)).json).toEqual(named);
    expect((await get(`/statements/${MONTH}/sheet`)).json.customer).toEqual(named);
    const csv = (await get(`/statement.csv?month=${MONTH}&sheet=true`)).text;
    expect(csv).toContain("customer,GB 123,Acme Ltd,,");
    expect(csv).toContain('customer_address,,"1 Main St\nSpringfield",,');
    const trail = (await console.call(owner, "GET", `/accounts/${account.id}/audit-trail`)).json.items[0];
    expect(trail).toMatchObject({ action: "account.billing_changed", after: named });
    for (const refused of [
      { ...named, name: "two\nlines" },
      { ...named, tax_id: "\u202eGB 123" },
      { ...named, address: "a\u0000b" },
      { ...named, address: "x".repeat(501) },
      { name: null },
    ]) {
      expect((await console.call(owner, "PUT", path, refused)).status).toBe(422);
    }
    const none = { name: null, address: null, tax_id: null };
    expect((await console.call(owner, "PUT", path, none)).json).toEqual(none);
    expect((await console.call(developer, "GET", path)).json).toEqual(none);
  });

  test("has a line per project, whose changes sum to closing less opening", async () => {
    const { json, status } = await get(`/statements/${MONTH}`);
    expect(status).toBe(200);
    expect(json).toMatchObject({
      month: MONTH,
      is_running: true,
      by: "project",
      opening_usd: "0.00",
      closing_usd: "6.999999999",
      lines: [
        { kind: "project", id: account.id, name: "Default", charged_usd: "2.00", change_usd: "-2.00" },
        { kind: "project", id: projectId, name: `Search ${dialect}`, charged_usd: "1.000000001" },
        { kind: "wallet", id: null, topped_up_usd: "10.00", change_usd: "10.00" },
      ],
      total: { change_usd: "6.999999999", transfers: 3 },
    });
  });

  test("is exported as CSV with opening and closing", async () => {
    const { headers, text } = await get(`/statement.csv?month=${MONTH}&by=key`);
    expect(headers.get("content-disposition")).toBe(`attachment; filename="statement-${MONTH}-by-key.csv"`);
    expect(text.split("\r\n").slice(1, -1)).toEqual([
      "opening,,,,,,,,,,0.00",
      `key,${keyId},batch,3.000000001,0.00,0.00,0.00,0.00,-3.000000001,2,`,
      "wallet,,,0.00,0.00,10.00,0.00,0.00,10.00,1,",
      "closing,,,,,,,,,,6.999999999",
    ]);
  });

  test("of another account is as unknown as one of an account that does not exist", async () => {
    const stranger = await console.newMember((await console.newAccount()).id, "owner");
    const foreign = await get(`/statements/${MONTH}`, stranger);
    const missing = await get(`/statements/${MONTH}`, stranger, crypto.randomUUID());
    expect([foreign.status, foreign.json]).toEqual([missing.status, missing.json]);
    expect(foreign.status).toBe(404);
  });

  test.each(["/statements/2026-13", `/statements/${MONTH}?by=planet`, `/statement.csv?month=${MONTH}&by=`])(
    "%s is refused",
    async (path) => expect((await get(path)).status).toBe(422),
  );
});
