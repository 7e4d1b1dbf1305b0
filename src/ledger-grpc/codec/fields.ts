import type { Long } from "@grpc/proto-loader";
import type { Nanos } from "../../domain/money.ts";

const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);
const SAFE_MAX = BigInt(Number.MAX_SAFE_INTEGER);

/** Far above what any ledger takes, and small enough that a thousand mutations fit in a message. */
const TEXT_LENGTH_MAX = 1_024;

type Sparse<Message> = { readonly [Field in keyof Message]: Message[Field] | undefined };

/** A message some fields of which may be undefined, which the serializer takes for absent. */
export function sparse<Message extends object>(message: Sparse<Message>): Message {
  // Safe because an absent field and an undefined one are the same bytes.
  return message as Message;
}

/** Text. What cannot travel becomes a control character, which is refused like itself. */
export function encodeText(text: string): string {
  return isPortable(text) ? text : "\0";
}

/** An id. One that cannot travel becomes empty, which names nothing and is refused like itself. */
export function encodeId(id: string): string {
  return isPortable(id) ? id : "";
}

function isPortable(text: string): boolean {
  return typeof text === "string" && text.length <= TEXT_LENGTH_MAX && text.isWellFormed();
}

/**
 * An amount. What int64 cannot say becomes its nearest value, what is missing its least: none of them is an
 * amount that the ledger takes.
 */
export function encodeNanos(amount: Nanos): number | string {
  if (typeof amount !== "bigint") return INT64_MIN.toString();
  if (amount <= SAFE_MAX && amount >= -SAFE_MAX) return Number(amount);
  if (amount > INT64_MAX) return INT64_MAX.toString();
  return (amount < INT64_MIN ? INT64_MIN : amount).toString();
}

export function decodeNanos({ high, low }: Long): Nanos {
  if (high === 0) return BigInt(low >>> 0);
  return (BigInt(high) << 32n) | BigInt(low >>> 0);
}

/** A count, a length of time or a second; what is too large for that comes out as inexact as it is. */
export function decodeNumber({ high, low }: Long): number {
  return high * 2 ** 32 + (low >>> 0);
}

/** A count from 0. What is none becomes -1, which is refused like itself. */
export function encodeCount(count: number): number {
  return Number.isSafeInteger(count) && count >= 0 ? count : -1;
}

/** Whole milliseconds. What is no number of them becomes the largest int64, which is refused like itself. */
export function encodeMs(ms: number): number | string {
  const whole = Math.round(ms);
  return Number.isSafeInteger(whole) ? whole : INT64_MAX.toString();
}

/** A small number such as a status or a size; 0 when int32 cannot say it. */
export function encodeInt32(number: number): number {
  return (number | 0) === number ? number : 0;
}
