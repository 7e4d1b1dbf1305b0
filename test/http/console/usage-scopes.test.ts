import { beforeAll, describe, expect, test } from "bun:test";
import type { Account } from "../../../src/accounts/accounts.ts";
import type { Actor } from "../../../src/accounts/audit-trail.ts";
import { issueKey } from "../../../src/accounts/keys/keys.ts";
import { createProject } from "../../../src/accounts/project-changes.ts";
import type { Scope, ScopeKind } from "../../../src/domain/scope.ts";
import { OTHER_SCOPES } from "../../../src/ledger/usage-records.ts";
import { OTHER, reportUsage } from "../../../src/usage/report.ts";
import { readView } from "../../../src/usage/view.ts";
import { DIALECTS } from "../../accounts/temp-storage.ts";
import { CHAT, post } from "../../support/client.ts";
import { consoleForTests } from "./open-consoles.ts";

const HOUR_MS = 3_600_000;
const USERS = 10_050;

describe.each(DIALECTS)("usage by what requests count for, on %s", (dialect) => {
  const console = consoleForTests(dialect);
  let account: Account;
  let developer: Actor;
  let projectId: string;
  let keyId: string;
  const parts = () => ({ database: console.parts.database, ledger: console.gateway.tollgate.ledger });
  beforeAll(async () => {
    account = await console.newAccount();
    developer = await console.newMember(account.id, "developer");
    projectId = (await createProject(parts(), { accountId: account.id, name: `Search ${dialect}` })).id;
    keyId = (await issueKey(parts(), { accountId: account.id, name: "batch", projectId })).key.id;
    await book(7n, [scope("project", projectId), scope("end_user", "alice"), scope("tag", "team=blue")]);
    await book(
      5n,
      [scope("project", projectId), scope("end_user", "bob"), scope("tag", "feature=x")],
      "upstream_timeout",
    );
    await book(2n, [
      scope("end_user", "alice"),
      scope("run", `${keyId}:job-1`),
      scope("member", developer.id),
    ]);
    await book(1n, []);
  });

  const scope = (kind: ScopeKind, id: string): Scope => ({ kind, id });

  async function book(amount: bigint, scopes: readonly Scope[], outcome = "ok", walletId = account.id) {
    const { ledger } = console.gateway.tollgate;
    const request = { walletId, chargeId: Bun.randomUUIDv7(), keyId, scopes, amount };
    const ended = { outcome, source: "reported", attempts: [] } as const;
    await ledger.charge({ ...request, facts: { surface: "service", model: "m" }, outcome: ended });
  }

  const get = async (query: string, actor = developer, id = account.id) =>
    (await console.call(actor, "GET", `/accounts/${id}/usage?by=none&${query}`)).json;
  /** The groups of a view as "id name nanos requests errors". */
  const groups = async (query: string) =>
    (await get(query)).groups.map(
      (each: Record<string, string>) =>
        `${each.group} ${each.group_name} ${each.cost_usd} ${each.requests} ${each.errors}`,
    );

  test("is grouped by project with names; receipts without one are of the default project", async () => {
    expect(await groups("group=project")).toEqual([
      `${projectId} Search ${dialect} 0.000000012 2 1`,
      `${account.id} Default 0.000000003 2 0`,
    ]);
  });

  test("is grouped by end user, run, member and the values of one tag", async () => {
    expect(await groups("group=end_user")).toEqual([
      "alice alice 0.000000009 2 0",
      "bob bob 0.000000005 1 1",
      "null null 0.000000001 1 0",
    ]);
    expect((await groups("group=run"))[1]).toBe(`${keyId}:job-1 job-1 0.000000002 1 0`);
    // Only a person who made keys of the account has a name there.
    expect((await groups("group=member"))[1]).toBe(`${developer.id} null 0.000000002 1 0`);
    expect(await groups("group=tag&tag_key=team")).toEqual([
      "null null 0.000000008 3 1",
      "blue blue 0.000000007 1 0",
    ]);
  });

  test("has the end users that the ledger has summed up together as one group", async () => {
    const { database, ledger } = parts();
    const usage: typeof ledger.usage = async (query) => {
      const report = await ledger.usage(query);
      // As a closed day with more end users than have rows of their own.
      const join = (id: unknown) => (id === "alice" ? OTHER_SCOPES : id);
      const rows = report.rows.map((row) => ({
        ...row,
        group: { ...row.group, end_user: join(row.group.end_user) },
      }));
      return { ...report, rows: rows as typeof report.rows };
    };
    const nowMs = Date.now() + HOUR_MS;
    for (const [by, groupsMax] of [
      ["none", 10],
      ["none", 2],
      ["day", 10],
      ["day", 2],
    ] as const) {
      const view = readView(account.id, { by, group: "end_user" }, nowMs);
      const report = await reportUsage({ database, ledger: { usage } }, view, nowMs, { groupsMax });
      expect(report.total).toMatchObject({ requests: 4, cost: 15n });
      const others = report.groups.find(({ group }) => group === OTHER);
      expect(others?.sums.cost).toBe(groupsMax === 10 ? 9n : 10n);
      expect(report.names.get(OTHER)).toBe("Others");
    }
  });

  test("is of one project, and grouped within it", async () => {
    expect(await groups(`group=end_user&scope=project:${projectId}`)).toEqual([
      "alice alice 0.000000007 1 0",
      "bob bob 0.000000005 1 1",
    ]);
    expect((await get(`scope=project:${account.id}`)).total.cost_usd).toBe("0.000000003");
    expect((await get("scope=end_user:alice&group=key")).groups).toMatchObject([
      { group: keyId, requests: 2 },
    ]);
    expect((await get("scope=end_user:nobody")).total.requests).toBe(0);
    expect((await get(`scope=project:${projectId}%0Aend_user:alice`)).total.requests).toBe(1);
    expect((await get(`scope=project:${account.id}%0Aend_user:bob`)).total.requests).toBe(0);
    const byHour = await console.call(
      developer,
      "GET",
      `/accounts/${account.id}/usage?by=hour&group=end_user&scope=project:${projectId}`,
    );
    const costs = byHour.json.rows.filter((row: { requests: number }) => row.requests > 0);
    expect(costs.map((row: { group: string }) => row.group)).toEqual(["alice", "bob"]);
  });

  test("counts a refused request for the project of its key, and in no view of one scope", async () => {
    const { secret } = await issueKey(parts(), { accountId: account.id, name: "refused", projectId });
    expect((await post(console.gateway, CHAT, { secret })).status).toBe(402);
    const refused = (await get("group=project")).groups.map((each: Record<string, unknown>) => [
      each.group,
      each.refused,
    ]);
    expect(refused).toEqual([
      [projectId, 1],
      [account.id, 0],
    ]);
    expect(
      (await get("group=end_user")).groups.find(({ group }: { group: unknown }) => group === null),
    ).toMatchObject({
      refused: 1,
    });
    expect((await get(`scope=project:${projectId}`)).total.refused).toBe(0);
  });

  test("has no view of another account, and no name of its projects", async () => {
    const other = await console.newAccount();
    const stranger = await console.newMember(other.id, "owner");
    await book(3n, [scope("project", projectId)], "ok", other.id);
    const query = `/accounts/${account.id}/usage?group=project`;
    expect((await console.call(stranger, "GET", query)).status).toBe(404);
    expect((await get("group=project", stranger, other.id)).groups).toMatchObject([
      { group: projectId, group_name: null, cost_usd: "0.000000003" },
    ]);
    const foreign = await get(`scope=project:${projectId}`, stranger, other.id);
    expect(foreign.total.cost_usd).toBe("0.000000003");
  });

  test.each([
    "group=tag",
    "scope=alice",
    "scope=planet:x",
    "scope=project:",
    "scope=key:k",
    "scope=run:a%0A",
    "group=planet",
  ])("%s is refused", async (query) => {
    const { status } = await console.call(developer, "GET", `/accounts/${account.id}/usage?${query}`);
    expect(status).toBe(422);
  });

  test("of more end users than a query returns has the dearest, and all others as one", async () => {
    const { ledger } = console.gateway.tollgate;
    const walletId = (await console.newAccount()).id;
    const outcome = { outcome: "ok", source: "reported", attempts: [] } as const;
    const facts = { surface: "service", model: "m" };
    const charge = (index: number) =>
      ledger.charge({
        walletId,
        chargeId: `c${index}`,
        keyId,
        scopes: [scope("end_user", `user-${index}`)],
        amount: BigInt(index + 1),
        facts,
        outcome,
      });
    for (let from = 0; from < USERS; from += 500)
      await Promise.all(
        Array.from({ length: Math.min(500, USERS - from) }, (_, index) => charge(from + index)),
      );
    const nowMs = Date.now() + HOUR_MS;
    const total = (BigInt(USERS) * BigInt(USERS + 1)) / 2n;
    let rowsMax = 0;
    const usage: typeof ledger.usage = async (query) => {
      const report = await ledger.usage(query);
      rowsMax = Math.max(rowsMax, report.rows.length);
      return report;
    };
    const watched = { ...parts(), ledger: { usage } };
    const readDays = (by: "day" | "none", groupsMax?: number) =>
      reportUsage(watched, readView(walletId, { by, group: "end_user" }, nowMs), nowMs, { groupsMax });

    const list = await readDays("none", 1_000);
    expect(list.groups).toHaveLength(1_001);
    const others = list.groups.find(({ group }) => group === OTHER);
    expect(others?.sums).toMatchObject({ requests: USERS - 1_000, errors: 0 });
    expect(list.groups.find(({ group }) => group === `user-${USERS - 1}`)?.sums.cost).toBe(BigInt(USERS));
    expect(list.total).toMatchObject({ requests: USERS, cost: total });

    const whole = await readDays("none");
    expect([whole.groups.length, whole.total.cost]).toEqual([10_000, total]);

    const days = await readDays("day", 1_000);
    const shown = new Set(days.points.map(({ group }) => group));
    expect([...shown].toSorted()).toEqual(
      [OTHER, ...Array.from({ length: 8 }, (_, at) => `user-${USERS - 1 - at}`)].toSorted(),
    );
    expect(days.total).toMatchObject({ requests: USERS, cost: total });
    expect(days.groups).toHaveLength(1_001);
    expect(rowsMax).toBeLessThanOrEqual(10_000);
  });
});
