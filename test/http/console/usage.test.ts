import { beforeEach, describe, expect, test } from "bun:test";
import { listAccountsWithUsage } from "../../../src/accounts/account-list.ts";
import { findAccount } from "../../../src/accounts/accounts.ts";
import { listKeyPage } from "../../../src/accounts/keys/key-list.ts";
import { resolveRange } from "../../../src/console/ranges.ts";
import { printUsd } from "../../../src/domain/money.ts";
import { NO_USAGE } from "../../../src/domain/usage.ts";
import type { ConsoleParts } from "../../../src/http/console/console-parts.ts";
import { viewBoundKey, viewBoundKeys } from "../../../src/http/console/keys/routes.ts";
import { printAnomalies } from "../../../src/http/console/usage/shapes.ts";
import { LedgerError } from "../../../src/ledger/ledger.ts";
import { listAnomalies } from "../../../src/usage/anomalies.ts";
import { OTHER, reportUsage } from "../../../src/usage/report.ts";
import { readView } from "../../../src/usage/view.ts";
import { DIALECTS } from "../../accounts/temp-storage.ts";
import { CHAT, MESSAGES, post } from "../../support/client.ts";
import { gate } from "../../support/script.ts";
import { answerWith } from "../../support/scripted-answers.ts";
import { openTestConsole } from "../../support/test-console.ts";
import { untilDayLasts } from "../../support/until.ts";
import { consoleForTests } from "./open-consoles.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe.each(DIALECTS)("usage on %s", (dialect) => {
  const console = consoleForTests(dialect);
  beforeEach(() => console.gateway.upstream.reset());

  const payer = async (name = "test") => {
    const { key, secret } = await console.gateway.newPayer("5", { name });
    const viewer = await console.newMember(key.accountId, "viewer");
    const call = (path: string, body?: object) =>
      console.call(viewer, body ? "POST" : "GET", `/accounts/${key.accountId}${path}`, body);
    const read = async (path: string, body?: object) => {
      const answer = await call(path, body);
      expect([path, answer.status]).toEqual([path, 200]);
      return answer.json;
    };
    return { accountId: key.accountId, keyId: key.id, secret, viewer, call, read };
  };
  type Payer = Awaited<ReturnType<typeof payer>>;

  /** Books a request of a past time, as an internal service does. */
  async function book(
    { accountId: walletId, keyId }: Pick<Payer, "accountId" | "keyId">,
    {
      atMs,
      amount = 10n,
      outcome = "ok",
      model = "own",
    }: { atMs: number; amount?: bigint; outcome?: string; model?: string },
  ): Promise<void> {
    const { ledger } = console.gateway.tollgate;
    const holdId = Bun.randomUUIDv7("hex", atMs);
    const facts = { surface: "service", model };
    await ledger.hold({ walletId, holdId, keyId, amount, minimum: amount, ttlMs: 60_000, facts });
    const usage = {
      inputTokens: 1,
      cachedInputTokens: 2,
      cacheWriteTokens: 3,
      cacheWrite1hTokens: 4,
      outputTokens: 5,
    };
    const ended = {
      outcome,
      source: "reported",
      usage,
      firstOutputMs: 40,
      totalMs: 150,
      attempts: [],
    } as const;
    await ledger.settle({ walletId, holdId, amount, facts: ended });
  }

  test.each([-8, 0, 9])(
    "keys and accounts have spent in 30 days what the usage of a viewer at UTC%d says",
    async (offsetHours) => {
      const { accountId } = await payer();
      await untilDayLasts(offsetHours);
      const bookedMs = Date.now();
      const shiftMs = offsetHours * HOUR_MS;
      const midnightMs = Math.floor((bookedMs + shiftMs) / DAY_MS) * DAY_MS - shiftMs;
      // The ledger takes ids of the last 24 hours: the reader's clock is ahead, so that its 30 days begin among them.
      const nowMs = midnightMs + 29.5 * DAY_MS;
      const parts: ConsoleParts = { ...console.parts, now: () => nowMs };
      const { database } = parts;
      const [key] = (await listKeyPage(database, { accountId, nowMs })).items;
      const account = await findAccount(database, accountId);
      if (!key || !account) throw new Error("The payer has an account and a key");
      const { from, to } = resolveRange({ range: "30d" }, { nowMs, offsetMinutes: offsetHours * 60 });
      expect(Date.parse(from)).toBe(midnightMs);
      const beforeMs = (midnightMs + bookedMs - DAY_MS) / 2;
      await book({ accountId, keyId: key.id }, { atMs: Math.ceil(beforeMs), amount: 1_000n });
      await book({ accountId, keyId: key.id }, { atMs: Math.ceil((midnightMs + bookedMs) / 2), amount: 10n });
      const view = readView(accountId, { from, to, by: "none", offset_h: offsetHours }, nowMs);
      const { total } = await reportUsage(parts, view, nowMs);
      expect(total.cost).toBe(10n);
      const spent = printUsd(total.cost);
      expect((await viewBoundKey(parts, account, key, offsetHours)).spent_30d_usd).toBe(spent);
      const [listed] = await viewBoundKeys(parts, account, [key, { ...key, id: "other" }], offsetHours);
      expect(listed?.spent_30d_usd).toBe(spent);
      if (offsetHours !== 0) return;
      const { items } = await listAccountsWithUsage(parts, { text: accountId, size: 5 });
      expect(items.map(({ spent30d }) => spent30d)).toEqual([10n]);
    },
  );

  test("sums requests, errors, refused requests, cost and tokens; a running request is no error", async () => {
    const { secret, accountId, read } = await payer();
    await post(console.gateway, CHAT, { secret });
    console.gateway.upstream.on("chat", answerWith(undefined, { status: 500 }));
    await post(console.gateway, CHAT, { secret });
    await post(console.gateway, CHAT, { secret, raw: "{" });
    const { opened, open } = gate();
    console.gateway.upstream.on("chat", answerWith(undefined, { pauseAt: { bytes: 0, gate: opened } }));
    const running = post(console.gateway, CHAT, { secret });
    await console.gateway.upstream.waitForSeen(3);
    const usage = await read("/usage?by=none");
    const sums = {
      requests: 3,
      errors: 1,
      refused: 1,
      cost_usd: "0.000025",
      input_tokens: 11,
      output_tokens: 7,
    };
    expect(usage.rows).toEqual([expect.objectContaining({ time: null, group: null, ...sums })]);
    expect(usage.total).toMatchObject(sums);
    expect(usage.total.total_time.p50).toBeGreaterThan(0);
    expect(usage.previous).toMatchObject({ requests: 0, refused: 0, cost_usd: "0.00", first_output: null });
    open();
    await running;
    await console.gateway.nothingIsHeld(accountId);
  });

  test("is grouped by key with names, by model, upstream and outcome, refused requests among them", async () => {
    const { secret, keyId, read } = await payer("=cmd()");
    await post(console.gateway, CHAT, { secret });
    await post(console.gateway, MESSAGES, { secret });
    await post(console.gateway, MESSAGES, { secret });
    await post(console.gateway, CHAT, { secret, raw: JSON.stringify(CHAT.body({ model: "none" })) });
    const groups = async (group: string, more = "") =>
      (await read(`/usage?by=none&group=${group}${more}`)).groups.map((each: Record<string, unknown>) => [
        each.group,
        each.requests,
        each.errors,
        each.refused,
      ]);
    expect(await groups("key")).toEqual([[keyId, 3, 0, 1]]);
    expect(await groups("model")).toEqual([
      ["claude", 2, 0, 0],
      ["chat", 1, 0, 0],
      [null, 0, 0, 1],
    ]);
    expect(await groups("upstream")).toEqual([
      ["scripted-anthropic", 2, 0, 0],
      ["scripted-openai", 1, 0, 0],
      [null, 0, 0, 1],
    ]);
    expect(await groups("outcome")).toEqual([
      ["ok", 3, 0, 0],
      ["model_not_found", 0, 0, 1],
    ]);
    expect(await groups("model", "&upstream=scripted-openai")).toEqual([["chat", 1, 0, 0]]);
    expect(await groups("model", "&outcome=model_not_found")).toEqual([[null, 0, 0, 1]]);
    expect(await groups("model", "&key=other")).toEqual([]);
    const { rows } = await read("/usage?by=none&group=key");
    expect(rows[0]).toMatchObject({ group: keyId, group_name: "=cmd()" });
  });

  test("is in CSV what is shown, and no name is a formula", async () => {
    const { secret, keyId, call } = await payer('=cmd("x")');
    await post(console.gateway, CHAT, { secret });
    const answer = await call("/usage.csv?by=none&group=key");
    expect(answer.headers.get("content-type")).toBe("text/csv; charset=utf-8");
    expect(answer.headers.get("content-disposition")).toMatch(/^attachment; filename="usage-[\w.-]+\.csv"$/);
    const [names, row, end] = answer.text.split("\r\n");
    expect(names).toBe(
      "time,group,group_name,requests,errors,refused,cost_usd,input_tokens,cached_input_tokens,cache_write_tokens,output_tokens",
    );
    expect(row).toBe(`,${keyId},"'=cmd(""x"")",1,0,0,0.000025,11,0,0,7`);
    expect(end).toBe("");
  });

  test("has a bucket for each hour and each day, with zeros in the gaps", async () => {
    const key = await payer();
    const nowMs = Date.now();
    const hours = [3, 3, 5];
    for (const hour of hours) await book(key, { atMs: nowMs - hour * HOUR_MS });
    const from = new Date(nowMs - 10 * HOUR_MS).toISOString();
    const to = new Date(nowMs).toISOString();
    const hourly = await key.read(`/usage?by=hour&from=${from}&to=${to}`);
    expect(hourly.resolution).toBe("hour");
    expect(hourly.rows).toHaveLength(11);
    const counts = new Map(
      hourly.rows.map(({ time, requests }: { time: string; requests: number }) => [
        Date.parse(time),
        requests,
      ]),
    );
    const at = (hour: number) => Math.floor((nowMs - hour * HOUR_MS) / HOUR_MS) * HOUR_MS;
    expect([at(3), at(4), at(5)].map((time) => counts.get(time))).toEqual([2, 0, 1]);
    expect(hourly.total).toMatchObject({
      requests: 3,
      cost_usd: "0.00000003",
      input_tokens: 3,
      cached_input_tokens: 6,
      cache_write_tokens: 21,
      output_tokens: 15,
      first_output: { p50: 25 },
      total_time: { p50: 150 },
    });
    const grouped = await key.read(`/usage?by=hour&group=key&from=${from}&to=${to}`);
    expect(grouped.rows).toHaveLength(11);
  });

  test("has days of the viewer's zone up to 31 days, and UTC days beyond", async () => {
    const key = await payer();
    await untilDayLasts();
    const midnight = Math.floor(Date.now() / DAY_MS) * DAY_MS;
    // The ledger takes ids of the last 24 hours, so that a receipt of yesterday is from its last second.
    await book(key, { atMs: midnight - 1_000 });
    const range = (days: number) =>
      `from=${new Date(midnight - days * DAY_MS).toISOString()}&to=${new Date(midnight).toISOString()}`;
    const dayOf = async (query: string) => {
      const { rows, resolution } = await key.read(`/usage?by=day&${query}`);
      const [row] = rows.filter(({ requests }: { requests: number }) => requests > 0);
      return [(Date.parse(row.time) - midnight) / HOUR_MS, resolution];
    };
    expect(await dayOf(range(3))).toEqual([-24, "hour"]);
    expect(await dayOf(`${range(3)}&offset_h=2`)).toEqual([-2, "hour"]);
    expect(await dayOf(`${range(3)}&offset_h=-5`)).toEqual([-19, "hour"]);
    expect(await dayOf(`${range(90)}&offset_h=2`)).toEqual([-24, "day"]);
  });

  test("compares with the range of equal length before", async () => {
    const key = await payer();
    const nowMs = Date.now();
    await book(key, { atMs: nowMs - 3 * HOUR_MS, amount: 7n, outcome: "upstream_timeout" });
    const from = new Date(nowMs - 2 * HOUR_MS).toISOString();
    const usage = await key.read(`/usage?by=none&from=${from}&to=${new Date(nowMs).toISOString()}`);
    expect(usage.total.requests).toBe(0);
    expect(usage.previous).toMatchObject({ requests: 1, errors: 1, cost_usd: "0.000000007" });
  });

  test.each([
    "from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z",
    "from=2020-01-01T00:00:00Z",
    "by=hour&from=2026-01-01T00:00:00Z&to=2026-03-01T00:00:00Z",
    "by=minute",
    "group=account",
    "offset_h=15",
    "offset_h=0.5",
    "key=%00",
  ])("of the bad query %s is answered 422", async (query) => {
    const { call } = await payer();
    const answer = await call(`/usage?${query}`);
    expect(answer.status).toBe(422);
    expect(answer.json.error.code).toBe("invalid_request");
  });

  test("of all accounts is for operators, grouped by account with names", async () => {
    const key = await payer();
    await post(console.gateway, CHAT, { secret: key.secret });
    const answer = await console.call(console.newOperator(), "GET", "/operator/usage?by=none&group=account");
    const own = answer.json.groups.find(({ group }: { group: string }) => group === key.accountId);
    expect(own).toMatchObject({
      requests: 1,
      cost_usd: "0.000025",
      group_name: expect.stringMatching(/^account-/),
    });
    expect((await console.call(key.viewer, "GET", "/operator/usage")).status).toBe(403);
    const csv = await console.call(console.newOperator(), "GET", "/operator/usage.csv?by=none&group=account");
    expect(csv.text).toContain(key.accountId);
  });

  test("at the prices of another model is computed per key, with the share of cached tokens", async () => {
    const key = await payer();
    await book(key, { atMs: Date.now() - HOUR_MS, amount: 1_000n });
    const from = new Date(Date.now() - DAY_MS).toISOString();
    const to = new Date(Date.now() + HOUR_MS).toISOString();
    const compared = { requests: 1, actual_usd: "0.000001", what_if_usd: "0.00002295" };
    expect(await key.read("/what-if", { from, to, model: "chat" })).toEqual({
      ...compared,
      by_key: [{ key_id: key.keyId, key_name: "test", ...compared }],
    });
    expect(await key.read("/what-if", { from, to, model: "chat", key: "other" })).toMatchObject({
      requests: 0,
    });
    expect((await key.call("/what-if", { from, to, model: "none" })).status).toBe(404);
    expect((await key.call("/what-if", { from, model: "chat" })).status).toBe(422);
  });

  test("of a new account has no anomalies", async () => {
    const key = await payer();
    await post(console.gateway, CHAT, { secret: key.secret });
    expect(await key.read("/usage/anomalies")).toEqual({ items: [] });
  });
});

test("a view with more points than the ledger returns has its dearest groups, and all others as one", async () => {
  const nowMs = Date.UTC(2026, 10, 22);
  const names = Array.from({ length: 40 }, (_, index) => `model-${index}`);
  const histogram = Array.from({ length: 10 }, () => 1);
  const row = (group: Record<string, string | number>, requests: number, captured: bigint) => {
    const usage = { ...NO_USAGE, inputTokens: 1 };
    const states = { open: 0, settled: requests, released: 0, expired: 0 };
    return {
      group,
      requests,
      ...states,
      captured,
      refunded: 0n,
      upstreamCost: 0n,
      costed: 0n,
      usage,
      firstOutputMs: histogram,
      totalMs: histogram,
    };
  };
  const costs = new Map(names.map((name, index) => [name, BigInt(index)]));
  const all = [...costs.values()].reduce((sum, cost) => sum + cost, 0n);
  const usage = async ({
    groupBy,
    among,
    toMs,
  }: {
    groupBy: readonly string[];
    among?: readonly string[];
    toMs: number;
  }) => {
    if (groupBy.length === 2 && !among) throw new LedgerError("invalid_query");
    if (toMs < nowMs) return { rows: [], resolution: "hour", offsetHours: 0 };
    const [by] = groupBy;
    const rows = among
      ? among.map((name) => row({ hour: nowMs - HOUR_MS, model: name }, 2, costs.get(name) ?? 0n))
      : by === "model"
        ? names.map((name) => row({ model: name }, 2, costs.get(name) ?? 0n))
        : [row(by === "hour" ? { hour: nowMs - HOUR_MS } : {}, 80, all)];
    return { rows, resolution: "hour", offsetHours: 0 };
  };
  const console = await openTestConsole();
  const parts = { database: console.parts.database, ledger: { usage } } as unknown as ConsoleParts;
  const from = new Date(nowMs - 2 * HOUR_MS).toISOString();
  const view = readView("a", { by: "hour", group: "model", from, to: new Date(nowMs).toISOString() }, nowMs);
  const report = await reportUsage(parts, view, nowMs);
  expect(report.groups).toHaveLength(40);
  expect(report.total).toMatchObject({ requests: 80, cost: all });
  const shown = report.points.filter(({ timeMs }) => timeMs === nowMs - HOUR_MS);
  expect(shown.map(({ group }) => group).toSorted()).toEqual([OTHER, ...names.slice(32)].toSorted());
  const other = shown.find(({ group }) => group === OTHER);
  expect(other?.sums.requests).toBe(64);
  await console.stop();
});

test("an anomaly names the key that cost the most on its day", async () => {
  const nowMs = Date.UTC(2026, 10, 22, 12);
  const console = await openTestConsole();
  const { key } = await console.gateway.newKey({ name: "batch job" });
  const dayOf = (daysAgo: number) => Date.UTC(2026, 10, 22 - daysAgo);
  const usage = async ({ groupBy }: { groupBy: readonly string[] }) => {
    const days = Array.from({ length: 84 }, (_, ago) => ({
      group: { day: dayOf(ago) },
      captured: ago === 1 ? 40_000_000n : 10_000_000n,
      refunded: 0n,
    }));
    const keys = [
      { group: { key: "service" }, captured: 1n },
      { group: { key: key.id }, captured: 2n },
    ];
    return { rows: groupBy[0] === "day" ? days : keys, resolution: "day", offsetHours: 0 };
  };
  const parts = { ...console.parts, ledger: { usage }, now: () => nowMs } as unknown as ConsoleParts;
  expect(printAnomalies(await listAnomalies(parts, console.gateway.accountId))).toEqual({
    items: [
      { day: "2026-11-21", cost_usd: "0.04", usual_usd: "0.01", key_id: key.id, key_name: "batch job" },
    ],
  });
  await console.stop();
});
