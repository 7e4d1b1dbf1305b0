import { describe, expect, test } from "bun:test";
import { addMember } from "../../accounts/actors.ts";
import { DIALECTS } from "../../accounts/temp-storage.ts";
import { untilDayLasts } from "../../support/until.ts";
import { consoleForTests } from "./open-consoles.ts";

describe.each(DIALECTS)("the usage of a project in the console on %s", (dialect) => {
  const console = consoleForTests(dialect);

  test("is divided by key, member and end user, with what the limit of each end user has counted", async () => {
    await untilDayLasts();
    const account = await console.newAccount();
    const owner = await addMember(console.parts.database, account.id, "owner");
    const call = (method: string, path: string, body?: object) =>
      console.call(owner, method, `/accounts/${account.id}/${path}`, body);
    const end_user_limit = { amount_usd: "2", period: "day" };
    const { json: project } = await call("POST", "projects", { name: "Support", end_user_limit });
    const { ledger } = console.gateway.tollgate;
    await ledger.topUp({ walletId: account.id, topUpId: "first", amount: 10_000_000_000n });
    const spend = async (endUser: string, amount: bigint) => {
      const hold = { walletId: account.id, holdId: Bun.randomUUIDv7() };
      const scopes = [
        { kind: "project", id: project.id },
        { kind: "member", id: owner.id },
        { kind: "end_user", id: endUser },
      ] as const;
      await ledger.hold({
        ...{ ...hold, keyId: "key-1", scopes, amount, minimum: amount, ttlMs: 60_000 },
        facts: { surface: "chat", model: "m" },
      });
      await ledger.settle({ ...hold, amount, facts: { outcome: "ok", source: "reported", attempts: [] } });
    };
    await spend("ada", 300_000_000n);
    await spend("ada", 200_000_000n);
    await spend("bob", 700_000_000n);
    const read = async (group: string) =>
      (await call("GET", `projects/${project.id}/usage?group=${group}`)).json;
    const users = await read("end_user");
    expect(users.total).toMatchObject({ requests: 3, cost_usd: "1.20" });
    expect(users.others).toMatchObject({ requests: 0, cost_usd: "0.00" });
    expect(users.items).toMatchObject([
      { id: "bob", name: "bob", requests: 1, cost_usd: "0.70", spending_limit: { remaining_usd: "1.30" } },
      { id: "ada", name: "ada", requests: 2, cost_usd: "0.50", spending_limit: { used_usd: "0.50" } },
    ]);
    const keys = await read("key");
    expect(keys.items).toMatchObject([{ id: "key-1", name: null, cost_usd: "1.20", spending_limit: null }]);
    expect((await read("member")).items).toMatchObject([{ id: owner.id, requests: 3 }]);
    expect((await read("model")).items).toMatchObject([{ id: "m", name: "m" }]);
    const other = await call("GET", `projects/${account.id}/usage`);
    expect(other.json).toMatchObject({ total: { requests: 0 }, items: [] });
    expect((await call("GET", "projects/none/usage")).status).toBe(404);
  });
});
