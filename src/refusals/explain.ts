import { type Nanos, printUsd } from "../domain/money.ts";
import { type Cause, ERRORS, type LimitFacts, type SpendingLimitFacts } from "../errors.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { pagesOf, type Receipt } from "../ledger/records.ts";
import type { RefusedRequest } from "./refusal.ts";

/** What the refused request would have needed, or what there was. Amounts of USD are decimal. */
interface Quantity {
  readonly amount: string;
  readonly unit: "usd" | "requests" | "tokens";
}

type Cure = "raise_limit" | "top_up" | "wait" | "none";

/** Why a request was refused, in sentences. */
interface Explanation {
  readonly code: string;
  /** The message that was sent. */
  readonly text: string;
  /** The rule that refused the request. */
  readonly rule: string;
  readonly cure: Cure;
  readonly cureText: string;
  /** Whose open holds kept the rest: those of the key, of the account, of the spending limit, or none. */
  readonly heldBy: "key" | "account" | "spending_limit" | undefined;
}

type Entry = readonly [rule: string, cure: Cure, cureText: string, heldBy?: "key" | "account"];

const BODY: Entry = ["The body is checked before anything is charged.", "none", "Correct the request."];
const WALLET_RULE = "The wallet must cover the least that the request may cost: posted − held + credit.";
const SPENDING_RULE =
  "The spending limit must cover the least that the request may cost, open holds included.";
const COST_RULE = "A request may bound its own cost by the header x-tollgate-max-cost-usd.";

/** By cause. Causes that are missing are explained by {@link BODY}. */
const ENTRIES: Partial<Record<Cause, Entry>> = {
  wallet_empty: [WALLET_RULE, "top_up", "Top up the wallet.", "account"],
  wallet_on_hold: [
    WALLET_RULE,
    "wait",
    "Wait for running requests to finish, or top up the wallet.",
    "account",
  ],
  spending_limit: [SPENDING_RULE, "raise_limit", "Raise the spending limit, or wait for its reset.", "key"],
  spending_limit_short: [
    SPENDING_RULE,
    "raise_limit",
    "Raise the spending limit, or ask for less output.",
    "key",
  ],
  spending_limit_on_hold: [
    SPENDING_RULE,
    "wait",
    "Wait for running requests to finish, or raise the limit.",
    "key",
  ],
  max_cost: [COST_RULE, "none", "Raise the header, ask for less output, or send x-tollgate-clamp: allow."],
  too_many_runs: ["A key may begin 10,000 runs with a limit on a UTC day.", "none", "Use fewer runs."],
  rate_limited: [
    "A limit counts the last 60 seconds.",
    "wait",
    "Wait as long as retry-after says, or raise the limit.",
  ],
  too_concurrent: [
    "A limit bounds how many requests run at once.",
    "wait",
    "Wait for a running request to finish, or raise the limit.",
    "key",
  ],
  too_many_body_bytes: [
    "The bodies in flight of one account are bounded.",
    "wait",
    "Send fewer large bodies at once.",
  ],
  too_many_tokens: [
    "A request may not need more tokens than the tokens-per-minute limit ever admits.",
    "raise_limit",
    "Raise the tokens-per-minute limit, or ask for less.",
  ],
  tier_not_allowed: ["The key lists its service tiers.", "none", "Ask for another tier, or allow it."],
  paid_tool_not_allowed: ["The key may use no tools with a fee.", "none", "Leave the tool out, or allow it."],
  model_not_allowed: ["The key lists the models that it may use.", "none", "Allow the model for this key."],
  account_suspended: ["A suspended account takes no requests.", "none", "Ask the operator."],
  unknown_model: ["The model must be in the catalog.", "none", "Use the id of a model of the catalog."],
  unknown_key: ["A key must be in force: not revoked and not expired.", "none", "Use another key."],
  not_built: ["The model has no route for this kind of request.", "none", "Use another model or surface."],
};

/** The key of a refused request, and the names of what limits bind. */
interface Naming {
  readonly keyId: string;
  /** Returns the owner's name of a key, project or member, or the id. */
  nameOf(id: string): string;
}

/** Explains a refusal by its cause. A cause of another version of the gateway is explained by its name. */
export function explainRefusal(cause: string, request: RefusedRequest, naming?: Naming): Explanation {
  if (!isCause(cause)) {
    return { code: cause, text: cause, rule: cause, cure: "none", cureText: "", heldBy: undefined };
  }
  const [rule, cure, cureText, heldBy] = ENTRIES[cause] ?? BODY;
  const { code, message } = ERRORS[cause];
  const { spendingLimit } = request;
  if (spendingLimit && naming && spendingLimit.scope?.id !== naming.keyId) {
    return {
      code,
      text: request.text ?? message,
      rule: `The spending limit ${whoseOf(spendingLimit, naming)} must cover the least that the request may cost, open holds included.`,
      cure: cure === "raise_limit" ? "none" : cure,
      cureText,
      heldBy: "spending_limit",
    };
  }
  const named = request.limit ? limitRule(request.limit) : rule;
  const owner = cause === "too_concurrent" && request.limit?.owner === "account" ? "account" : heldBy;
  return { code, text: request.text ?? message, rule: named, cure, cureText, heldBy: owner };
}

/** Returns the causes of a code, by which rows are stored. */
export function causesOf(code: string): readonly Cause[] {
  return Object.keys(ERRORS).filter((cause) => isCause(cause) && ERRORS[cause].code === code) as Cause[];
}

/** The code of a stored cause; of another version's cause its name. */
export function codeOf(cause: string): string {
  return isCause(cause) ? ERRORS[cause].code : cause;
}

/** What the request needed, in the unit of its rule; `undefined` for rules without a quantity. */
export function neededBy({ money, limit }: RefusedRequest): Quantity | undefined {
  if (money) return inUsd(money.needed);
  return limit && { amount: String(limit.needed), unit: unitOf(limit) };
}

/** What was left for the request; `undefined` when it is not known. */
export function leftFor({ money, limit }: RefusedRequest): Quantity | undefined {
  if (money) return inUsd(money.available);
  if (!limit) return undefined;
  const left = limit.name === "concurrency" ? 0 : limit.max - (limit.used ?? limit.max);
  return { amount: String(Math.max(left, 0)), unit: unitOf(limit) };
}

function inUsd(nanos: string): Quantity {
  return { amount: printUsd(BigInt(nanos) as Nanos), unit: "usd" };
}

function unitOf({ name }: LimitFacts): "requests" | "tokens" {
  return name === "tokens" ? "tokens" : "requests";
}

const OWNERS = { key: "of the key", account: "of the account", either: "of the key or of the account" };

function limitRule({ name, owner, max }: LimitFacts): string {
  const whose = OWNERS[owner];
  if (name === "concurrency") return `The limit ${whose}: at most ${max} requests at once.`;
  return `The limit ${whose}: at most ${max} ${name} in any 60 seconds.`;
}

const SCOPES: Readonly<Record<string, string>> = {
  key: "of the key above it",
  project: "of the project",
  member: "of the member",
  end_user: "of the end user",
  tag: "of the tag",
  run: "of the run",
};

/** Whose limit it is, with the id of what it binds. That of a run ends with the id that its client chose. */
function whoseOf({ scope }: SpendingLimitFacts, { nameOf }: Naming): string {
  return scope ? `${SCOPES[scope.kind] ?? `of ${scope.kind}`} ${nameOf(scope.id)}` : "of the account";
}

function isCause(cause: string): cause is Cause {
  return Object.hasOwn(ERRORS, cause);
}

/** A hold that was open at a moment. */
type OpenHold = Pick<Receipt, "holdId" | "granted">;

type BoundHold = Pick<Receipt, "keyId" | "scopes">;

interface Moment {
  readonly walletId: string;
  /** `undefined` selects the holds of all keys. */
  readonly keyId: string | undefined;
  /** Selects the holds that count for a scope. */
  readonly scope?: SpendingLimitFacts["scope"];
  /** Unix milliseconds. */
  readonly atMs: number;
}

/** Older holds are found only while they are still open. */
const LOOK_BACK_MS = 3_600_000;
const PAGE_SIZE = 500;
const PAGES_MAX = 4;
const HOLDS_MAX = 20;

/**
 * Finds the holds that were open at a moment, the largest 20, from the receipts of the hour before it and from
 * the holds that are still open. A wallet with more than 2,000 requests in that hour shows the latest ones.
 */
export async function findHoldsOf(ledger: Ledger, moment: Moment): Promise<readonly OpenHold[]> {
  const holds = new Map<string, OpenHold>();
  for (const hold of await listEnded(ledger, moment)) holds.set(hold.holdId, hold);
  for (const hold of await listRunning(ledger, moment)) holds.set(hold.holdId, hold);
  return [...holds.values()]
    .toSorted((one, other) => Number(other.granted - one.granted))
    .slice(0, HOLDS_MAX);
}

async function listEnded(
  ledger: Ledger,
  { walletId, keyId, scope, atMs }: Moment,
): Promise<readonly OpenHold[]> {
  const filter = { walletId, keyId, fromMs: Math.max(atMs - LOOK_BACK_MS, 0), toMs: atMs + 1 };
  const found: OpenHold[] = [];
  let pages = 0;
  for await (const { items } of pagesOf((token) => ledger.receipts(filter, { size: PAGE_SIZE, token }))) {
    for (const receipt of items) {
      const { holdId, granted, createdAtMs, resolvedAtMs = Infinity } = receipt;
      const isOpen = createdAtMs <= atMs && resolvedAtMs > atMs && granted > 0n;
      if (isOpen && isOf(receipt, scope)) found.push({ holdId, granted });
    }
    pages += 1;
    if (pages === PAGES_MAX) break;
  }
  return found;
}

/** Whether a hold counts for a scope. One of a key has those of the keys below it, too. */
function isOf({ keyId, scopes }: BoundHold, scope: Moment["scope"]): boolean {
  if (!scope) return true;
  const kind = scope.kind === "key" ? "parent_key" : scope.kind;
  if (kind === "parent_key" && keyId === scope.id) return true;
  return scopes.some((each) => each.kind === kind && each.id === scope.id);
}

/** Running holds do not name their scopes: those of the last hour are among the receipts. */
async function listRunning(
  ledger: Ledger,
  { walletId, keyId, scope, atMs }: Moment,
): Promise<readonly OpenHold[]> {
  if (scope) return [];
  const { items } = await ledger.runningHolds(walletId, { size: PAGE_SIZE });
  return items.filter((hold) => hold.createdAtMs <= atMs && (keyId === undefined || hold.keyId === keyId));
}
