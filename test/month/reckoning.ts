import {
  type AccountName,
  DAY_MS,
  FUNDS,
  KEYS,
  MONTH,
  PICOS,
  printRequest,
  type Scripted,
  SIZE,
} from "./script.ts";

// Nothing of the product is imported here: prices, limits and sums are reckoned from the script alone.

const HOUR_MS = 3_600_000;

type Dimension = "project" | "member" | "end_user" | "tag" | "run" | "parent_key" | "key";

/** A limit of the script: what it binds, and how it is called in `x-tollgate-limit`. */
export interface LimitPlan {
  readonly id: string;
  readonly account: AccountName;
  readonly amount: bigint;
  readonly period: "total" | "day" | "week" | "month" | `${number}h`;
  /** Hours that the days of the limit are ahead of UTC. */
  readonly offsetHours?: number;
  /** What a request must count for, as "kind id". */
  readonly on?: string;
  /** Each of this kind has the amount to itself. */
  readonly each?: Dimension;
}

/** Limits at every level, in nano-USD. Those of runs come with their first request. */
export const LIMITS: readonly LimitPlan[] = [
  { id: "account", account: "north", amount: SIZE.north, period: "month" },
  { id: "support", account: "north", amount: 27_000_000n, period: "week", on: "project support" },
  { id: "each member", account: "north", amount: 6_100_000n, period: "day", each: "member" },
  { id: "ben", account: "north", amount: 21_000_000n, period: "month", on: "member ben" },
  {
    ...{ id: "each of search", account: "north", amount: 1_900_000n, period: "day" },
    ...{ on: "project search", each: "end_user" },
  },
  { id: "index", account: "north", amount: 47_000_000n, period: "total", on: "tag feature=index" },
  { id: "cho", account: "north", amount: 2_300_000n, period: "5h", on: "key cho" },
  { id: "agent", account: "north", amount: 52_000_000n, period: "total", on: "key agent" },
  { id: "child one", account: "north", amount: 18_000_000n, period: "total", on: "key child one" },
  { id: "child two", account: "north", amount: 1_500_000n, period: "day", on: "key child two" },
  { id: "grandchild", account: "north", amount: 7_000_000n, period: "total", on: "key grandchild" },
  { id: "robot", account: "north", amount: 8_700_000n, period: "week", on: "key robot" },
  { id: "shop", account: "south", amount: SIZE.shopPerDay, period: "day", on: "project shop" },
  {
    ...{ id: "each of shop", account: "south", amount: 900_001n, period: "week" },
    ...{ on: "project shop", each: "end_user" },
  },
  { id: "eva", account: "south", amount: 3_100_000n, period: "day", offsetHours: 2, on: "key eva" },
];

/** What a request came to. */
export interface Verdict {
  /** The name of the limit that declines it; "" for an empty wallet; `undefined` when it is admitted. */
  readonly declinedBy: string | undefined;
  readonly needed: bigint;
  readonly charged: bigint;
  readonly refunded: bigint;
}

interface Bound {
  readonly limit: LimitPlan;
  readonly counter: string;
  readonly name: string;
  readonly left: bigint;
  readonly windowStartMs: number | undefined;
}

/** The whole month as it must come out. */
export class Reckoning {
  readonly counted = new Map<string, bigint>();
  readonly #windows = new Map<string, number>();
  readonly #runs = new Map<string, LimitPlan>();
  /** Charges less refunds by "account", "account kind id"; and how many requests were admitted. */
  readonly spent = new Map<string, bigint>();
  readonly admitted = new Map<string, number>();
  /** How many requests each limit has declined. That of all runs is "run", and that of an empty wallet "". */
  readonly declines = new Map<string, number>();

  decide(request: Scripted): Verdict {
    const { account } = KEYS[request.key];
    const needed = neededBy(request);
    const declined = (declinedBy: string, limitId = declinedBy): Verdict => {
      this.declines.set(limitId, (this.declines.get(limitId) ?? 0) + 1);
      return { declinedBy, needed, charged: 0n, refunded: 0n };
    };
    this.#beginRun(request);
    if (request.costMax !== undefined && needed > request.costMax) return declined("request");
    const bound = this.bind(request);
    const [tightest, next] = bound.toSorted((one, other) => (one.left < other.left ? -1 : 1));
    if (tightest && tightest.left < needed) {
      if (next?.left === tightest.left) throw new Error(`A tie of limits in request ${request.index}`);
      return declined(tightest.name, tightest.limit.id.replace(/^run .*/, "run"));
    }
    if (FUNDS[account] - (this.spent.get(account) ?? 0n) < needed) return declined("");
    const charged = chargeOf(request);
    const refunded = request.isRefunded ? charged / 2n : 0n;
    this.#book(request, bound, charged - refunded);
    return { declinedBy: undefined, needed, charged, refunded };
  }

  /**
   * Throws unless all requests of a moment come out alike in every order. What a limit of one end user declines is
   * declined in every order; the other limits must have room for all others at once, and still more than that limit.
   */
  checkOrder(requests: readonly Scripted[]): void {
    const wanted = new Map<string, { left: bigint; needed: bigint }>();
    for (const request of requests) {
      const needed = neededBy(request);
      const bound = this.bind(request);
      const own = bound.find(({ limit }) => limit.each === "end_user");
      const isDeclined = own !== undefined && own.left < needed;
      for (const { limit, counter, left } of bound) {
        if (limit.each === "end_user") continue;
        const sum = wanted.get(counter) ?? { left: left - (own?.left ?? 0n), needed: 0n };
        wanted.set(counter, { left: sum.left, needed: sum.needed + (isDeclined ? 0n : needed) });
      }
    }
    for (const [counter, { left, needed }] of wanted)
      if (needed > left) throw new Error(`The order of a crowd matters to ${counter}: ${needed} > ${left}`);
  }

  /** The limits that bind a request, each with what it has left. */
  bind(request: Scripted): readonly Bound[] {
    const { account } = KEYS[request.key];
    const scopes = scopesOf(request);
    const limits = [...LIMITS, ...this.#runs.values()].filter((limit) => limit.account === account);
    return limits.flatMap((limit) => {
      const { on, each, id, amount } = limit;
      const isKey = on?.startsWith("key ") && scopes.includes(`parent_key ${on.slice(4)}`);
      if (on !== undefined && !scopes.includes(on) && !isKey) return [];
      const subject = each ? scopes.find((scope) => scope.startsWith(`${each} `)) : undefined;
      if (each && !subject) return [];
      const own = subject ? `${id}/${subject}` : id;
      const { startMs, isNew } = this.#startOf(limit, own, request.atMs);
      const counter = `${account} ${own}@${startMs}`;
      const left = amount - (this.counted.get(counter) ?? 0n);
      const name = printName(subject ?? (isKey ? `parent_${on}` : on), request);
      return { limit, counter, name, left, windowStartMs: isNew ? startMs : undefined };
    });
  }

  /** The first request of a run with a limit sets it, also when it is declined. */
  #beginRun({ key, run }: Scripted): void {
    if (run?.max === undefined) return;
    const id = `run ${key} ${run.id}`;
    const { account } = KEYS[key];
    if (!this.#runs.has(id))
      this.#runs.set(id, { id, account, amount: run.max, period: "total", on: `run ${key}:${run.id}` });
  }

  #book(request: Scripted, bound: readonly Bound[], net: bigint): void {
    const { account } = KEYS[request.key];
    for (const { counter, windowStartMs, limit } of bound) {
      add(this.counted, counter, net);
      if (windowStartMs !== undefined) this.#windows.set(limit.id, windowStartMs);
    }
    for (const name of [account, ...scopesOf(request).map((scope) => `${account} ${scope}`)]) {
      add(this.spent, name, net);
      this.admitted.set(name, (this.admitted.get(name) ?? 0) + 1);
    }
  }

  #startOf({ period, offsetHours = 0, id }: LimitPlan, _own: string, atMs: number) {
    const shift = offsetHours * HOUR_MS;
    const local = atMs + shift - MONTH.fromMs;
    if (period === "total") return { startMs: 0, isNew: false };
    if (period === "month") return { startMs: MONTH.fromMs, isNew: false };
    if (period === "day") return { startMs: atMs - (local % DAY_MS), isNew: false };
    if (period === "week") return { startMs: atMs - (local % (7 * DAY_MS)), isNew: false };
    const lengthMs = Number(period.slice(0, -1)) * HOUR_MS;
    const startMs = this.#windows.get(id);
    const isOpen = startMs !== undefined && atMs < startMs + lengthMs;
    return { startMs: isOpen ? startMs : atMs, isNew: !isOpen };
  }
}

/** What a request counts for beside its account, as "kind id". */
function scopesOf({ key, user, tags, run }: Scripted): readonly string[] {
  const scopes = [`key ${key}`];
  for (let { under } = KEYS[key]; under; under = KEYS[under].under) scopes.push(`parent_key ${under}`);
  const { project, member } = KEYS[key];
  scopes.push(`project ${project}`);
  if (member) scopes.push(`member ${member}`);
  if (user !== undefined) scopes.push(`end_user ${user}`);
  for (const [tag, value] of Object.entries(tags)) scopes.push(`tag ${tag}=${value}`);
  if (run) scopes.push(`run ${key}:${run.id}`);
  return scopes;
}

/** The most that a request may cost: a token for every second byte of it, and all of its output limit. */
function neededBy(request: Scripted): bigint {
  const bytes = Buffer.byteLength(printRequest(request).body);
  return priced(Math.ceil(bytes / 2), request.outputMax);
}

function chargeOf({ usage }: Scripted): bigint {
  return usage ? priced(usage.input, usage.output) : 0n;
}

function priced(input: number, output: number): bigint {
  return (BigInt(input) * PICOS.input + BigInt(output) * PICOS.output + 999n) / 1_000n;
}

/** The value of `x-tollgate-limit`: what is no visible ASCII is percent-encoded. */
function printName(scope: string | undefined, { key }: Scripted): string {
  if (scope === undefined) return "account";
  const [kind = ""] = scope.split(" ", 1);
  const id = scope.slice(kind.length + 1);
  const name = kind === "run" ? id.slice(key.length + 1) : id;
  const encoded = [...new TextEncoder().encode(name)]
    .map((byte) => (byte > 0x20 && byte < 0x7f && byte !== 0x25 ? String.fromCharCode(byte) : percent(byte)))
    .join("");
  return `${kind} ${encoded}`;
}

function percent(byte: number): string {
  return `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
}

function add(sums: Map<string, bigint>, name: string, amount: bigint): void {
  sums.set(name, (sums.get(name) ?? 0n) + amount);
}
