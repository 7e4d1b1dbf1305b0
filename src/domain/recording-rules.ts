import { DAY_MS } from "./id-time.ts";

/** The patterns that come with the program, which a key may redact, in the order in which they are looked for. */
export const PATTERN_NAMES = ["secret", "card", "email"] as const;
export type PatternName = (typeof PATTERN_NAMES)[number];

/** A recording is kept for at most 7 days, and a key records for at most 7 days. */
export const RECORDING_DAYS_MAX = 7;
const AHEAD_DAYS_MAX = RECORDING_DAYS_MAX + 1;

/** The latest end that a recording may have, by the clock of now: a later one is of a clock that was ahead. */
export function latestEndMs(nowMs: number): number {
  return nowMs + AHEAD_DAYS_MAX * DAY_MS;
}

/** Whether an end of recordings is still to come. */
export function isAhead(endMs: number, nowMs: number): boolean {
  return nowMs < endMs && endMs <= latestEndMs(nowMs);
}

/** Own expressions of a key, and the characters of each. */
export const EXPRESSIONS_MAX = 5;
export const EXPRESSION_CHARS_MAX = 200;

/** How the bodies of a key's requests are kept, as its account has set it. */
export interface RecordingRules {
  /** Unix milliseconds from which nothing more is kept. */
  readonly untilMs: number;
  /** Milliseconds for which each recording is kept. */
  readonly keptMs: number;
  /** Whether images and files are kept; otherwise their type and length. */
  readonly keepsMedia: boolean;
  readonly patterns: readonly PatternName[];
  /** Own expressions in the syntax of RE2. */
  readonly expressions: readonly string[];
  /** In base64: each recording's key is derived with it. Another one makes every earlier recording unreadable. */
  readonly salt: string;
}
