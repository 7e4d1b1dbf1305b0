import type { Duration, Duration__Output } from "../../gen/google/protobuf/Duration.ts";
import type { Timestamp, Timestamp__Output } from "../../gen/google/protobuf/Timestamp.ts";
import { decodeNumber } from "./fields.ts";
import { type FieldFault, InvalidField, required } from "./invalid-field.ts";

const NANOS_PER_MS = 1_000_000;
const NANOS_PER_S = 1_000_000_000;

/** The years 1 to 9999, which is what a Timestamp may say. */
const TIME_MIN_MS = -62_135_596_800_000;
const TIME_MAX_MS = 253_402_300_799_999;

/** 10,000 years, which is what a Duration may say. */
const DURATION_MAX_S = 315_576_000_000;

/** A time in Unix milliseconds. What a Timestamp cannot say becomes its nearest value. */
export function encodeTime(ms: number): Timestamp {
  const bounded = Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, TIME_MIN_MS), TIME_MAX_MS);
  const seconds = Math.floor(bounded / 1000);
  return { seconds, nanos: Math.floor((bounded - seconds * 1000) * NANOS_PER_MS) };
}

/** Rounds a fraction of a millisecond up. Throws {@link InvalidField} when it is out of range. */
export function decodeTime({ seconds, nanos }: Timestamp__Output, field: string, fault?: FieldFault): number {
  const ms = decodeNumber(seconds) * 1000 + Math.ceil(nanos / NANOS_PER_MS);
  const isInRange = ms >= TIME_MIN_MS && ms <= TIME_MAX_MS + 1 && nanos >= 0 && nanos < NANOS_PER_S;
  if (!isInRange) throw new InvalidField(field, fault ?? "invalid_request");
  return ms;
}

/**
 * A length of time in milliseconds. What a Duration cannot say becomes its nearest value, what is no number
 * becomes 0: none is a time that a hold may live.
 */
export function encodeDuration(ms: number): Duration {
  const bounded = Number.isNaN(ms) ? 0 : Math.min(Math.max(ms / 1000, -DURATION_MAX_S), DURATION_MAX_S);
  const seconds = Math.trunc(bounded);
  const isBeyond = Math.abs(seconds) === DURATION_MAX_S;
  return { seconds, nanos: isBeyond ? 0 : Math.round((ms - seconds * 1000) * NANOS_PER_MS) };
}

/** Throws {@link InvalidField} when it is absent or out of range. */
export function decodeDuration(wire: Duration__Output | null, field: string, fault: FieldFault): number {
  const { seconds, nanos } = required(wire, field, fault);
  const whole = decodeNumber(seconds);
  const isOneSign = whole === 0 || nanos === 0 || whole > 0 === nanos > 0;
  if (Math.abs(whole) > DURATION_MAX_S || Math.abs(nanos) >= NANOS_PER_S || !isOneSign) {
    throw new InvalidField(field, fault);
  }
  return whole * 1000 + nanos / NANOS_PER_MS;
}
