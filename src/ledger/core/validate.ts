// Whether each part of a command can be stored unchanged by every database. The rules decline what cannot.
import { DAY_MS } from "../../domain/id-time.ts";
import { ITEMS_MAX, itemsOf } from "../../domain/items.ts";
import type { Price } from "../../domain/model.ts";
import { NANOS_MAX, type Nanos } from "../../domain/money.ts";
import { SCOPE_ID_CHARACTERS_MAX, SCOPE_KINDS, SCOPES_MAX, type Scope } from "../../domain/scope.ts";
import { UNIT_NAMES } from "../../domain/units.ts";
import type { Usage } from "../../domain/usage.ts";
import type { LedgerErrorCode, TakenHold } from "../ledger.ts";
import {
  ATTEMPTS_MAX,
  type Attempt,
  type Metadata,
  type OutcomeFacts,
  type RequestFacts,
  type SpendLimit,
} from "../records.ts";

const YEAR_MS = 366 * DAY_MS;

const ID_CHARACTERS_MAX = 128;
const FACT_CHARACTERS_MAX = 256;
/** Control characters and lone surrogates. */
const UNSTORABLE = /[\p{Cc}\p{Cs}]/u;
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/**
 * Whether a text can be the id of a wallet, key, limit or posting: 1 to 128 characters, see {@link isText}.
 */
export function isId(id: string): boolean {
  return isText(id, ID_CHARACTERS_MAX) && id.length > 0;
}

/** Whether a text is well-formed, has no control characters, and is at most `charactersMax` long. */
function isText(text: string, charactersMax: number): boolean {
  return typeof text === "string" && text.length <= charactersMax && !UNSTORABLE.test(text);
}

/** Whether a text can be the id of a hold: a UUIDv7 in lower case. */
export function isHoldId(id: string): boolean {
  return UUID_V7.test(id);
}

/** Whether the time in a hold id is at most a day before or after now. Receipts are listed by this time. */
export function isFresh(holdId: string, nowMs: number): boolean {
  const madeAtMs = Number.parseInt(holdId.slice(0, 8) + holdId.slice(9, 13), 16);
  return Math.abs(madeAtMs - nowMs) <= DAY_MS;
}

/** Whether a command may name an amount: 0 to {@link NANOS_MAX}. */
export function isAmount(amount: Nanos): boolean {
  return typeof amount === "bigint" && amount >= 0n && amount <= NANOS_MAX;
}

/** Whether a balance or counter may be stored: ±{@link NANOS_MAX}, so that a sum of two fits int64. */
export function isStorableSum(sum: Nanos): boolean {
  return sum <= NANOS_MAX && sum >= -NANOS_MAX;
}

/** Whether a hold may outlive its last heartbeat by `ttlMs`: whole milliseconds, from 1 to a year. */
export function isTtl(ttlMs: number): boolean {
  return Number.isInteger(ttlMs) && ttlMs >= 1 && ttlMs <= YEAR_MS;
}

/** Whether a moment can be stored: whole Unix milliseconds below 2^48. */
export function isTime(ms: number): boolean {
  return Number.isInteger(ms) && ms >= 0 && ms < 2 ** 48;
}

/** Whether scopes can be stored: at most 16, each once, none of them the key. */
export function areScopes(scopes: readonly Scope[]): boolean {
  return (
    scopes.length <= SCOPES_MAX &&
    scopes.every((scope, i) => isScope(scope) && !occursBefore(scopes, scope, i))
  );
}

/** Whether an equal scope is among the first ones. */
function occursBefore(scopes: readonly Scope[], { kind, id }: Scope, end: number): boolean {
  for (let i = 0; i < end; i++) if (scopes[i]?.id === id && scopes[i]?.kind === kind) return true;
  return false;
}

function isScope({ kind, id }: Scope): boolean {
  return kind !== "key" && SCOPE_KINDS.includes(kind) && isText(id, SCOPE_ID_CHARACTERS_MAX) && id !== "";
}

/** Whether a limit can bind what it names: nothing, a key, or one scope that is no key. */
export function isBindable({ keyId, scope, each }: Pick<SpendLimit, "keyId" | "scope" | "each">): boolean {
  if (each !== undefined && !SCOPE_KINDS.includes(each)) return false;
  return scope === undefined || (keyId === undefined && scope.kind !== "parent_key" && isScope(scope));
}

/** Whether the facts of a request can be stored. */
export function areRequestFacts({ surface, model }: RequestFacts): boolean {
  return isFact(surface) && isFact(model);
}

/** Returns why the description of a hold is declined whatever the book holds. */
export function reasonAgainst({
  keyId,
  scopes,
  granted,
  ttlMs,
  facts,
}: TakenHold): LedgerErrorCode | undefined {
  if (!isId(keyId)) return "invalid_id";
  if (scopes && !areScopes(scopes)) return "invalid_scope";
  if (!isAmount(granted) || !isTtl(ttlMs)) return "invalid_amount";
  return areRequestFacts(facts) ? undefined : "invalid_facts";
}

/**
 * Whether the facts of an outcome can be stored. Validates the attempts that are written, not older ones.
 * Written without loops, because it runs for every settlement.
 */
export function areOutcomeFacts(facts: OutcomeFacts): boolean {
  const { outcome, source, upstream = "", upstreamModel = "", tier = "", price, usage, attempts } = facts;
  if (!isFact(outcome) || !isFact(source) || !isFact(upstream) || !isFact(upstreamModel)) return false;
  if (!isFact(tier) || (price !== undefined && !isPrice(price))) return false;
  if (facts.upstreamCost !== undefined && !isAmount(facts.upstreamCost)) return false;
  if (usage !== undefined && !isUsage(usage)) return false;
  if (price && usage && (usage.calls || usage.audio || usage.image) && !areItems(price, usage)) return false;
  if (!isDuration(facts.firstOutputMs) || !isDuration(facts.totalMs)) return false;
  const kept = attempts.length > ATTEMPTS_MAX ? attempts.slice(-ATTEMPTS_MAX) : attempts;
  return kept.every(isAttempt);
}

function isFact(text: string): boolean {
  return isText(text, FACT_CHARACTERS_MAX);
}

function isPrice({ input, output, cachedInput, cacheWrite, cacheWrite1h, unit }: Price): boolean {
  if (unit !== undefined && !(UNIT_NAMES.includes(unit.name) && isAmount(unit.picos))) return false;
  const isReadPaid = isAmount(input) && isAmount(cachedInput);
  return isReadPaid && isAmount(output) && isAmount(cacheWrite) && isAmount(cacheWrite1h);
}

function isUsage(usage: Usage): boolean {
  return (
    isCount(usage.inputTokens) &&
    isCount(usage.cachedInputTokens) &&
    isCount(usage.cacheWriteTokens) &&
    isCount(usage.cacheWrite1hTokens) &&
    isCount(usage.outputTokens) &&
    (usage.units === undefined || isCount(usage.units))
  );
}

function areItems(price: Price, usage: Usage): boolean {
  const items = itemsOf(price, usage);
  return (
    items.length <= ITEMS_MAX &&
    items.every(({ name, count, picos }) => isFact(name) && isCount(count) && isAmount(picos))
  );
}

function isCount(count: number): boolean {
  return Number.isSafeInteger(count) && count >= 0;
}

/** Whether a duration is absent or a number of milliseconds. A clock that was set back makes it negative. */
function isDuration(ms: number | undefined): boolean {
  return ms === undefined || Number.isSafeInteger(Math.round(ms));
}

function isAttempt({ upstream, key = "", reason = "", report = "", status, ms }: Attempt): boolean {
  const areFacts = isFact(upstream) && isFact(key) && isFact(reason) && isFact(report);
  return areFacts && Number.isSafeInteger(status) && isDuration(ms);
}

const METADATA_BYTES_MAX = 4096;
/** The maximum depth of nested objects and lists. Protobuf readers stop at 100 messages, up to 3 a level. */
const METADATA_DEPTH_MAX = 30;
/** A name that some JSON readers drop. After a backslash, the first quote belongs to a longer name. */
const LOST_NAME = /(?<!\\)"__proto__":/;

/**
 * Returns metadata as JSON text, `undefined` for none. Returns `null` for metadata that is no object, above
 * 4 KiB, nested deeper than 30, or that has the name "__proto__".
 */
export function printMetadata(metadata: Metadata | undefined): string | undefined | null {
  if (metadata === undefined) return undefined;
  const printed = print(metadata);
  if (!printed?.startsWith("{") || Buffer.byteLength(printed) > METADATA_BYTES_MAX) return null;
  return depthOf(printed) > METADATA_DEPTH_MAX || LOST_NAME.test(printed) ? null : printed;
}

/** Whether two JSON texts have equal values. The order of names is ignored: not every sender keeps it. */
export function isSameMetadata(one: string | undefined, other: string | undefined): boolean {
  if (one === other) return true;
  if (one === undefined || other === undefined || one.length !== other.length) return false;
  return Bun.deepEquals(JSON.parse(one), JSON.parse(other), true);
}

function print(metadata: Metadata): string | undefined {
  try {
    return JSON.stringify(metadata);
  } catch {
    // A cycle or a bigint, which JSON cannot represent.
    return undefined;
  }
}

function depthOf(printed: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [bracket] of printed.replaceAll(/"(?:[^"\\]|\\.)*"/g, "").matchAll(/[[\]{}]/g)) {
    depth += bracket === "[" || bracket === "{" ? 1 : -1;
    if (depth > deepest) deepest = depth;
  }
  return deepest;
}
