import { describe, expect, test } from "bun:test";
import { createProject } from "../../src/accounts/project-changes.ts";
import { readMonth } from "../../src/domain/month.ts";
import type { Scope, ScopeKind } from "../../src/domain/scope.ts";
import { type Ledger, LedgerError } from "../../src/ledger/ledger.ts";
import type { SpendLimit } from "../../src/ledger/records.ts";
import type { ScopeDimension } from "../../src/ledger/usage-records.ts";
import { readChargeback } from "../../src/payments/chargeback.ts";
import { openStatement } from "../../src/payments/statement.ts";
import { DIALECTS, storageForTests, type TempStorage } from "../accounts/temp-storage.ts";
import { createDraw } from "../support/seeded-random.ts";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const FROM_MS = Date.UTC(2026, 5, 1);
const FACTS = { surface: "chat", model: "m" };
const ENDED = { outcome: "ok", source: "reported", attempts: [] } as const;
const PEOPLE = ["ada", "ben", "cho", "dov", "eva"];
const FEATURES = ["search", "chat", "index"];

/** Requests and end users of a month. PostgreSQL gets a quarter, of limits too, because it decides one in milliseconds. */
const SIZES = {
  sqlite: { requests: 5_600, users: 10_000, share: 4n },
  postgres: { requests: 1_400, users: 900, share: 1n },
};

/** One request of the script: what it counts for, holds and costs. */
interface Scripted {
  readonly walletId: string;
  readonly keyId: string;
  readonly scopes: readonly Scope[];
  readonly atMs: number;
  readonly amount: bigint;
  readonly cost: bigint;
  /** What is returned of the cost a while later. */
  readonly refund: bigint;
}

describe.each(DIALECTS)("a scripted month of two accounts in %s", (dialect) => {
  const storage = storageForTests(dialect);

  test("declines by the limit that a reckoning names, and sums up to the nano", async () => {
    const accounts = [await storage.newAccount("north"), await storage.newAccount("south")] as const;
    const [north, south] = accounts;
    const own = { database: storage.database, ledger: storage.ledger, now: storage.now };
    const projects = [
      await createProject(own, { accountId: north.id, name: "search" }),
      await createProject(own, { accountId: north.id, name: "support" }),
      await createProject(own, { accountId: south.id, name: "only" }),
    ].map(({ id }, index) => ({ id, walletId: index === 2 ? south.id : north.id }));
    const limits = limitsOf(
      north.id,
      projects.map(({ id }) => id),
      SIZES[dialect].share,
    );
    for (const { id } of accounts)
      await storage.ledger.topUp({ walletId: id, topUpId: "funds", amount: 10n ** 15n });
    for (const limit of limits) await storage.ledger.setSpendLimit(limit);
    const reckoning = new Reckoning(limits);
    const script = scriptOf(projects, SIZES[dialect]);
    const declines = new Map<string, number>();

    for (const [index, request] of script.entries()) {
      storage.clock.nowMs = request.atMs;
      const expected = reckoning.decide(request);
      const declined = await play(storage.ledger, request, index);
      expect([index, declined]).toEqual([index, expected]);
      if (declined)
        declines.set(declined.split(" ")[0] ?? "", (declines.get(declined.split(" ")[0] ?? "") ?? 0) + 1);
    }

    // Every level was met.
    expect([...declines.keys()].sort()).toEqual([...new Set(limits.map(({ limitId }) => limitId))].sort());
    await checkUsage(
      storage.ledger,
      reckoning,
      accounts.map(({ id }) => id),
    );
    await checkMoney(storage, reckoning, accounts);
  });
});

/** Limits at every level: the account, a project, each member, each end user of a project, a tag, a key, the runs. */
function limitsOf(
  walletId: string,
  [first = "", second = ""]: readonly string[],
  share: bigint,
): readonly SpendLimit[] {
  const own = { walletId, keyId: undefined };
  const runs = Array.from({ length: 8 }, (_, run) => ({
    ...own,
    limitId: `run:${run}`,
    scope: { kind: "run", id: `run${run}` } as const,
    period: "total" as const,
    amount: 4_000n * share,
  }));
  return [
    { ...own, limitId: "account", period: "month", amount: 1_000_000n * share },
    {
      ...own,
      limitId: "project",
      scope: { kind: "project", id: second },
      period: "week",
      amount: 90_000n * share,
    },
    { ...own, limitId: "each_member", each: "member", period: "day", amount: 15_000n * share },
    {
      ...own,
      limitId: "each_end_user",
      scope: { kind: "project", id: first },
      each: "end_user",
      period: "day",
      amount: 9_000n,
    },
    {
      ...own,
      limitId: "tag",
      scope: { kind: "tag", id: "feature=index" },
      period: "total",
      amount: 300_000n * share,
    },
    { walletId, keyId: "key0", limitId: "key0", period: "5h", amount: 2_500n * share },
    ...runs,
  ];
}

/** Few end users send many requests, and most send one. */
function scriptOf(
  projects: readonly { readonly id: string; readonly walletId: string }[],
  { requests, users }: { readonly requests: number; readonly users: number },
): readonly Scripted[] {
  const random = createDraw("month");
  const pick = (count: number) => Math.floor(random() * count);
  return Array.from({ length: requests }, (_, index) => {
    const project = projects[pick(10) < 8 ? pick(2) : 2];
    if (!project) throw new Error("no project");
    const person = pick(PEOPLE.length);
    const user = random() < 0.3 ? pick(20) : (index * 7) % users;
    const amount = BigInt(1_000 + pick(9_000));
    const cost = (amount * BigInt(pick(101))) / 100n;
    const scopes: Scope[] = [
      { kind: "project", id: project.id },
      { kind: "member", id: PEOPLE[person] ?? "" },
      { kind: "end_user", id: `user ${user}` },
      { kind: "tag", id: `feature=${FEATURES[pick(3)]}` },
    ];
    if (random() < 0.1) scopes.push({ kind: "run", id: `run${pick(8)}` });
    const refund = cost > 0n && random() < 0.05 ? cost / 2n : 0n;
    const atMs = FROM_MS + Math.floor((index / requests) * 29 * DAY_MS);
    return { walletId: project.walletId, keyId: `key${person}`, scopes, atMs, amount, cost, refund };
  });
}

/** Returns the limit that declined the request and what it counted; `undefined` when it was admitted. */
async function play(ledger: Ledger, request: Scripted, index: number): Promise<string | undefined> {
  const { walletId, keyId, scopes, atMs, amount, cost, refund } = request;
  const holdId = Bun.randomUUIDv7("hex", atMs);
  try {
    await ledger.hold({
      walletId,
      holdId,
      keyId,
      scopes,
      amount,
      minimum: amount,
      ttlMs: 60_000,
      facts: FACTS,
    });
  } catch (error) {
    if (!(error instanceof LedgerError) || error.code !== "spending_limit_exceeded") throw error;
    const { limitId, scope } = error.limit ?? {};
    return `${limitId} ${scope?.kind ?? "wallet"} ${scope?.id ?? ""}`;
  }
  await ledger.settle({ walletId, holdId, amount: cost, facts: ENDED });
  if (refund > 0n) await ledger.refund({ walletId, refundId: `r${index}`, holdId, amount: refund });
  return undefined;
}

/** Reckons the month by itself: what each limit has counted, and what each scope has spent. */
class Reckoning {
  readonly #limits: readonly SpendLimit[];
  readonly #counted = new Map<string, bigint>();
  readonly #windows = new Map<string, number>();
  readonly spent = new Map<string, bigint>();

  constructor(limits: readonly SpendLimit[]) {
    this.#limits = limits;
  }

  /** Decides a request and books it. Returns what declines it, as {@link play} does. */
  decide(request: Scripted): string | undefined {
    const bound = this.#limits.flatMap((limit) => this.#bind(limit, request));
    const left = bound.map((each) => each.limit.amount - (this.#counted.get(each.counter) ?? 0n));
    const tightest = bound
      .map((each, index) => ({ ...each, left: left[index] ?? 0n }))
      .sort((one, other) =>
        one.left === other.left ? (one.name < other.name ? -1 : 1) : one.left < other.left ? -1 : 1,
      )[0];
    if (tightest && tightest.left < request.amount) return tightest.says;
    const net = request.cost - request.refund;
    for (const { counter, window } of bound) {
      this.#counted.set(counter, (this.#counted.get(counter) ?? 0n) + net);
      if (window) this.#windows.set(window.id, window.startMs);
    }
    for (const { kind, id } of request.scopes) {
      const name = `${request.walletId} ${kind} ${id}`;
      this.spent.set(name, (this.spent.get(name) ?? 0n) + net);
    }
    this.spent.set(request.walletId, (this.spent.get(request.walletId) ?? 0n) + net);
    return undefined;
  }

  #bind(limit: SpendLimit, { walletId, keyId, scopes, atMs }: Scripted) {
    const has = (scope: Scope) => scopes.some(({ kind, id }) => kind === scope.kind && id === scope.id);
    const isBound =
      limit.walletId === walletId &&
      (limit.keyId === undefined || limit.keyId === keyId) &&
      (limit.scope === undefined || has(limit.scope));
    if (!isBound) return [];
    const { each, limitId } = limit;
    const subjects: readonly (Scope | undefined)[] = each
      ? scopes.filter(({ kind }) => kind === each)
      : [limit.keyId === undefined ? limit.scope : { kind: "key", id: limit.keyId }];
    return subjects.map((subject) => {
      const id = each ? `${limitId}/${subject?.id}` : limitId;
      const startMs = this.#startOf(limit.period, id, atMs);
      return {
        limit,
        name: id,
        counter: `${id}@${startMs}`,
        window: limit.period.endsWith("h") ? { id, startMs } : undefined,
        says: `${limitId} ${subject?.kind ?? "wallet"} ${subject?.id ?? ""}`,
      };
    });
  }

  #startOf(period: string, id: string, atMs: number): number {
    if (period === "total") return 0;
    if (period === "day") return atMs - (atMs % DAY_MS);
    // 2026-06-01 is a Monday, and the first of its month.
    if (period === "week") return atMs - ((atMs - FROM_MS) % (7 * DAY_MS));
    if (period === "month") return FROM_MS;
    const lengthMs = Number(period.slice(0, -1)) * HOUR_MS;
    const startMs = this.#windows.get(id);
    return startMs !== undefined && atMs < startMs + lengthMs ? startMs : atMs;
  }
}

/** Compares usage by each kind of scope with the reckoning. */
async function checkUsage(ledger: Ledger, { spent }: Reckoning, walletIds: readonly string[]): Promise<void> {
  const kinds: readonly (ScopeDimension & ScopeKind)[] = ["project", "member", "tag", "run"];
  for (const walletId of walletIds) {
    for (const kind of kinds) {
      const tagKey = kind === "tag" ? "feature" : undefined;
      const { rows } = await ledger.usage({ walletId, groupBy: [kind], tagKey });
      for (const row of rows) {
        const id = row.group[kind];
        if (id === null) continue;
        const name = `${walletId} ${kind} ${kind === "tag" ? `feature=${id}` : id}`;
        expect([name, row.captured - row.refunded]).toEqual([name, spent.get(name) ?? 0n]);
      }
    }
    for (const [name, amount] of [...spent]
      .filter(([each]) => each.startsWith(`${walletId} end_user`))
      .slice(0, 40)) {
      const scope = { kind: "end_user", id: name.slice(`${walletId} end_user `.length) } as const;
      const { rows } = await ledger.usage({ walletId, groupBy: [], scopes: [scope] });
      expect([name, (rows[0]?.captured ?? 0n) - (rows[0]?.refunded ?? 0n)]).toEqual([name, amount]);
    }
  }
}

/** Compares balance, statement and the statement by project with the reckoning. */
async function checkMoney(
  { database, ledger }: TempStorage,
  { spent }: Reckoning,
  accounts: readonly { readonly id: string; readonly createdAtMs: number }[],
): Promise<void> {
  const month = readMonth("2026-06");
  for (const account of accounts) {
    const cost = spent.get(account.id) ?? 0n;
    const { posted } = await ledger.balances(account.id);
    expect(posted).toBe(10n ** 15n - cost);
    let closing = 0n;
    for await (const { balance } of (await openStatement(ledger, account.id, month)).lines())
      closing = balance;
    expect(closing).toBe(posted);
    const chargeback = await readChargeback({ database, ledger }, { account, month, by: "project" });
    expect(chargeback.closing).toBe(posted);
    for (const { kind, id, charged, refunded } of chargeback.lines) {
      if (kind !== "project" || id === undefined) continue;
      expect([id, charged - refunded]).toEqual([id, spent.get(`${account.id} project ${id}`) ?? 0n]);
    }
  }
}
