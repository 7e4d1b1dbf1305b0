import { NANOS_MAX, type Nanos } from "../../domain/money.ts";

const ID_CHARACTERS_MAX = 128;
const DAY_MS = 86_400_000;
const YEAR_MS = 366 * DAY_MS;
const UNKEPT = /[\p{Cc}\p{Cs}]/u;
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Whether an id can be kept as it is: 1 to 128 characters, and {@link isText}. */
export function isId(id: string): boolean {
  return isText(id, ID_CHARACTERS_MAX) && id.length > 0;
}

/** Whether every store keeps a text as it is: well-formed, without control characters, not too long. */
export function isText(text: string, charactersMax: number): boolean {
  return typeof text === "string" && text.length <= charactersMax && !UNKEPT.test(text);
}

/** Whether an id can be a hold's: a UUIDv7 in lower case. */
export function isHoldId(id: string): boolean {
  return UUID_V7.test(id);
}

/** Whether a hold's id was made at most a day before or after now: its time is its place in every list. */
export function isFresh(holdId: string, nowMs: number): boolean {
  const madeAtMs = Number.parseInt(holdId.slice(0, 8) + holdId.slice(9, 13), 16);
  return Math.abs(madeAtMs - nowMs) <= DAY_MS;
}

/** Whether an amount may be named by a command: 0 to {@link NANOS_MAX}. */
export function isAmount(amount: Nanos): boolean {
  return typeof amount === "bigint" && amount >= 0n && amount <= NANOS_MAX;
}

/** Whether a sum may be kept: ±{@link NANOS_MAX}, so that no sum of two leaves int64. */
export function isKeepable(sum: Nanos): boolean {
  return sum <= NANOS_MAX && sum >= -NANOS_MAX;
}

/** Whether a hold may outlive its last heartbeat by this: whole milliseconds, from 1 to a year. */
export function isTtl(ttlMs: number): boolean {
  return Number.isInteger(ttlMs) && ttlMs >= 1 && ttlMs <= YEAR_MS;
}
