import { NANOS_MAX, type Nanos } from "../../domain/money.ts";

const ID_CHARACTERS_MAX = 128;
const METADATA_BYTES_MAX = 4096;
const YEAR_MS = 366 * 86_400_000;

/** Whether an id can be kept as it is: 1 to 128 characters of well-formed text without control characters. */
export function isId(id: string): boolean {
  return id.length > 0 && id.length <= ID_CHARACTERS_MAX && !/[\p{Cc}\p{Cs}]/u.test(id);
}

/** Whether an amount may be named by a command: 0 to {@link NANOS_MAX}. */
export function isAmount(amount: Nanos): boolean {
  return amount >= 0n && amount <= NANOS_MAX;
}

/** Whether a sum may be kept: ±{@link NANOS_MAX}, so that no sum of two leaves int64. */
export function isKeepable(sum: Nanos): boolean {
  return sum <= NANOS_MAX && sum >= -NANOS_MAX;
}

/** Whether a hold may outlive its last heartbeat by this: whole milliseconds, from 1 to a year. */
export function isTtl(ttlMs: number): boolean {
  return Number.isInteger(ttlMs) && ttlMs >= 1 && ttlMs <= YEAR_MS;
}

export function isMetadata(printed: string | undefined): boolean {
  return printed === undefined || Buffer.byteLength(printed) <= METADATA_BYTES_MAX;
}
