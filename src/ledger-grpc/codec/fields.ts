import type { Long } from "@grpc/proto-loader";
import type { Nanos } from "../../domain/money.ts";
import type * as Proto from "../../gen/messages.ts";
import type { LedgerErrorCode } from "../../ledger/ledger.ts";

// Encodes and decodes single fields. An encoder never throws: it replaces a value that the wire cannot carry
// by one that the server declines. The reason is the one that the ledger would give for the original.

/**
 * Why a field is rejected: a reason of the ledger, or `invalid_request` for a field that cannot be decoded.
 */
export type FieldFault = Extract<LedgerErrorCode, `invalid_${string}`> | "invalid_request";

/**
 * A message has a field that cannot be decoded. `field` is its path in the message, as the proto names it.
 */
export class InvalidField extends Error {
  override readonly name = "InvalidField";
  readonly field: string;
  readonly fault: FieldFault;

  constructor(field: string, fault: FieldFault) {
    super(`Cannot read ${field}: ${fault}`);
    this.field = field;
    this.fault = fault;
  }
}

/** Returns the value. Throws {@link InvalidField} when the field is absent. */
export function required<Value>(
  value: Value | null | undefined,
  field: string,
  fault: FieldFault = "invalid_request",
): Value {
  if (value === null || value === undefined) throw new InvalidField(field, fault);
  return value;
}

type Sparse<Message> = { readonly [Field in keyof Message]: Message[Field] | undefined };

/** Types a message whose `undefined` fields are absent on the wire. */
export function sparse<Message extends object>(message: Sparse<Message>): Message {
  // Safe because an absent field and an undefined one are the same bytes.
  return message as Message;
}

/** Above any text that a ledger accepts, and small enough that 1,000 mutations fit in one message. */
const TEXT_LENGTH_MAX = 1_024;

/** Encodes a text. One that is too long or not well-formed becomes a control character, which is declined. */
export function encodeText(text: string): string {
  return isPortable(text) ? text : "\0";
}

/** Encodes an id. One that is too long or not well-formed becomes empty, which is declined or not found. */
export function encodeId(id: string): string {
  return isPortable(id) ? id : "";
}

function isPortable(text: string): boolean {
  return typeof text === "string" && text.length <= TEXT_LENGTH_MAX && text.isWellFormed();
}

const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);
const SAFE_MAX = BigInt(Number.MAX_SAFE_INTEGER);

/** Encodes an amount, clamped to int64; anything but a bigint becomes INT64_MIN. The server declines both. */
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

/** Decodes a count, a duration or a second. Beyond 2^53 the number is rounded. */
export function decodeNumber({ high, low }: Long): number {
  return high * 2 ** 32 + (low >>> 0);
}

/** Encodes a count from 0. Any other number becomes -1, which is declined. */
export function encodeCount(count: number): number {
  return Number.isSafeInteger(count) && count >= 0 ? count : -1;
}

/** Encodes milliseconds, rounded. NaN, infinities and unsafe integers become INT64_MAX, which is declined. */
export function encodeMs(ms: number): number | string {
  const whole = Math.round(ms);
  return Number.isSafeInteger(whole) ? whole : INT64_MAX.toString();
}

/** Encodes a small number, such as an HTTP status or a page size. A number outside int32 becomes 0. */
export function encodeInt32(number: number): number {
  return (number | 0) === number ? number : 0;
}

const NANOS_PER_MS = 1_000_000;
const NANOS_PER_S = 1_000_000_000;

/** The years 1 to 9999: the range of a Timestamp. */
const TIME_MIN_MS = -62_135_596_800_000;
const TIME_MAX_MS = 253_402_300_799_999;

/** 10,000 years: the range of a Duration. */
const DURATION_MAX_S = 315_576_000_000;

/** Encodes Unix milliseconds, clamped to the range of a Timestamp; NaN becomes 0. */
export function encodeTime(ms: number): Proto.Timestamp {
  const bounded = Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, TIME_MIN_MS), TIME_MAX_MS);
  const seconds = Math.floor(bounded / 1000);
  return { seconds, nanos: Math.floor((bounded - seconds * 1000) * NANOS_PER_MS) };
}

/** Returns Unix milliseconds, a fraction rounded up. Throws {@link InvalidField} when out of range. */
export function decodeTime(
  { seconds, nanos }: Proto.Timestamp__Output,
  field: string,
  fault?: FieldFault,
): number {
  const ms = decodeNumber(seconds) * 1000 + Math.ceil(nanos / NANOS_PER_MS);
  const isInRange = ms >= TIME_MIN_MS && ms <= TIME_MAX_MS + 1 && nanos >= 0 && nanos < NANOS_PER_S;
  if (!isInRange) throw new InvalidField(field, fault ?? "invalid_request");
  return ms;
}

/**
 * Encodes milliseconds, clamped to the range of a Duration; NaN becomes 0. No ledger accepts either as a
 * `ttl`.
 */
export function encodeDuration(ms: number): Proto.Duration {
  const bounded = Number.isNaN(ms) ? 0 : Math.min(Math.max(ms / 1000, -DURATION_MAX_S), DURATION_MAX_S);
  const seconds = Math.trunc(bounded);
  const isBeyond = Math.abs(seconds) === DURATION_MAX_S;
  return { seconds, nanos: isBeyond ? 0 : Math.round((ms - seconds * 1000) * NANOS_PER_MS) };
}

/** Returns milliseconds. Throws {@link InvalidField} when the field is absent or out of range. */
export function decodeDuration(
  wire: Proto.Duration__Output | null,
  field: string,
  fault: FieldFault,
): number {
  const { seconds, nanos } = required(wire, field, fault);
  const whole = decodeNumber(seconds);
  const isOneSign = whole === 0 || nanos === 0 || whole > 0 === nanos > 0;
  if (Math.abs(whole) > DURATION_MAX_S || Math.abs(nanos) >= NANOS_PER_S || !isOneSign) {
    throw new InvalidField(field, fault);
  }
  return whole * 1000 + nanos / NANOS_PER_MS;
}
