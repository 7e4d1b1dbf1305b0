import { beforeEach, describe, expect, test } from "bun:test";
import { addMember } from "../../accounts/actors.ts";
import { DIALECTS } from "../../accounts/temp-storage.ts";
import { untilDayLasts } from "../../support/until.ts";
import { consoleForTests } from "./open-consoles.ts";

const DAY_MS = 86_400_000;
const MONEY = 10_000_000_000n;

describe.each(DIALECTS)("a link to a project on %s", (dialect) => {
  const console = consoleForTests(dialect);
  beforeEach(() => untilDayLasts());

  async function newAccount() {
    const account = await console.newAccount();
    const owner = await addMember(console.parts.database, account.id, "owner");
    const call = (method: string, path: string, body?: object) =>
      console.call(owner, method, `/accounts/${account.id}/${path}`, body);
    await console.gateway.tollgate.ledger.topUp({ walletId: account.id, topUpId: "first", amount: MONEY });
    const newProject = async (name: string) => {
      const spending_limit = { amount_usd: "5", period: "month" };
      return (await call("POST", "projects", { name, spending_limit })).json.id as string;
    };
    const share = async (project: string, shows_names = true) => {
      const expires_at = new Date(Date.now() + DAY_MS).toISOString();
      const { json } = await call("POST", "links", { project, shows_names, expires_at });
      return { id: json.link.id as string, token: String(json.url).split("/").at(-1) ?? "", json };
    };
    return { account, owner, call, newProject, share };
  }
  async function spend(walletId: string, project: string | undefined, amount: bigint, model = "m") {
    const { ledger } = console.gateway.tollgate;
    const hold = { walletId, holdId: Bun.randomUUIDv7() };
    const scopes = project === undefined ? [] : [{ kind: "project", id: project } as const];
    await ledger.hold({
      ...{ ...hold, keyId: "key-1", scopes, amount, minimum: amount, ttlMs: 60_000 },
      facts: { surface: "chat", model },
    });
    await ledger.settle({ ...hold, amount, facts: { outcome: "ok", source: "reported", attempts: [] } });
  }
  const read = (path: string) => console.call(undefined, "GET", `/shared/${path}`);
  const month = () => new Date().toISOString().slice(0, 7);

  test("shows the usage, the budget and the months of its project, and nothing of the others", async () => {
    const { account, newProject, share } = await newAccount();
    const [search, support] = [await newProject("Search"), await newProject("Support")];
    await spend(account.id, search, 300_000_000n, "gpt");
    await spend(account.id, support, 700_000_000n, "secret-model");
    await spend(account.id, undefined, 50_000_000n, "secret-model");
    const { token, json } = await share(search);
    expect(json.link).toMatchObject({ project: { id: search, name: "Search" }, key: null, state: "active" });
    const view = await read(token);
    expect(view.json).toMatchObject({
      project_name: "Search",
      key_name: null,
      account_name: account.name,
      months: [month()],
      usage: { total: { cost_usd: "0.30", requests: 1 }, models: [{ model: "gpt" }] },
      spending_limit: { amount_usd: "5.00", used_usd: "0.30" },
    });
    expect(JSON.stringify(view.json)).not.toMatch(/Support|secret-model|0\.70/);
    expect((await read(`${token}/months/${month()}`)).json).toEqual({
      month: month(),
      is_running: true,
      is_complete: true,
      charged_usd: "0.30",
      refunded_usd: "0.00",
      other_usd: "0.00",
      change_usd: "-0.30",
      transfers: 1,
    });
    const csv = await read(`${token}/statement.csv?month=${month()}`);
    expect(csv.text).toContain(`${month()},true,true,0.30,0.00,0.00,-0.30,1`);
    const ofDefault = await share(account.id);
    expect((await read(ofDefault.token)).json.usage.total.cost_usd).toBe("0.05");
  });

  test("hides names unless it shows them", async () => {
    const { newProject, share } = await newAccount();
    const { token } = await share(await newProject("Search"), false);
    expect((await read(token)).json).toMatchObject({ project_name: null, account_name: null });
  });

  test("is unknown once it is revoked, for months that it has not, and to a project of another account", async () => {
    const { call, newProject, share } = await newAccount();
    const project = await newProject("Search");
    const { id, token } = await share(project);
    expect((await read(`${token}/months/2001-01`)).status).toBe(404);
    const stranger = await newAccount();
    const expires_at = new Date(Date.now() + DAY_MS).toISOString();
    const foreign = { project, shows_names: false, expires_at };
    const [theirs, none] = await Promise.all(
      [foreign, { ...foreign, project: "none" }].map((body) => stranger.call("POST", "links", body)),
    );
    expect([theirs?.status, theirs?.json]).toEqual([404, none?.json]);
    expect((await call("POST", "links", { ...foreign, key: "k" })).status).toBe(422);
    expect((await call("DELETE", `links/${id}`)).status).toBe(200);
    for (const path of [token, `${token}/months/${month()}`, `${token}/statement.csv?month=${month()}`]) {
      const [revoked, unknown] = [await read(path), await read(path.replace(token, `shl-${"x".repeat(43)}`))];
      expect([revoked.status, revoked.json]).toEqual([404, unknown.json]);
    }
  });

  test("ends with the right of the owner who made it", async () => {
    const { account, call, owner, newProject, share } = await newAccount();
    const other = await addMember(console.parts.database, account.id, "owner");
    const { token } = await share(await newProject("Search"));
    expect((await read(token)).status).toBe(200);
    const lowered = await console.call(other, "PATCH", `/accounts/${account.id}/members/${owner.id}`, {
      role: "developer",
    });
    expect(lowered.status).toBe(200);
    expect((await read(token)).status).toBe(404);
    expect((await call("GET", "links")).status).toBe(403);
  });

  test("and one to the whole account or a key have no months", async () => {
    const { call } = await newAccount();
    const expires_at = new Date(Date.now() + DAY_MS).toISOString();
    const { json } = await call("POST", "links", { shows_names: false, expires_at });
    const token = String(json.url).split("/").at(-1);
    expect((await read(`${token}`)).json.months).toEqual([]);
    expect((await read(`${token}/months/${month()}`)).status).toBe(404);
  });
});
