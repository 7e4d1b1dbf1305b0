import { type Circuit, createCircuit } from "./circuit.ts";
import type { CircuitOptions } from "./circuit-phases.ts";

/** Longest cooldown that an upstream may request: a false value then only reorders routes for a while. */
const COOLDOWN_MAX_MS = 300_000;

/**
 * Cooldowns kept per upstream. Beyond it the one updated longest ago is dropped, which only reorders routes.
 */
const COOLDOWNS_MAX = 1000;

/** How long the cause of one account's refused call is remembered, until another account meets it. */
const REFUSED_MS_MAX = 300_000;

/** State of one upstream as its calls have shown: its circuit, and the cooldown of each of its models. */
export interface Health extends Circuit {
  /** Whether the upstream has requested (retry-after) no calls of this model for now. */
  isCoolingDown(upstreamModel: string): boolean;
  /** Milliseconds until `acquire` may give a permit and the model is not cooling down. */
  availableInMs(upstreamModel: string, accountId?: string): number;
  /**
   * Starts a cooldown of `ms`, at most 300,000. The later end of two cooldowns counts. Ignores `ms` unless
   * positive.
   */
  startCooldown(upstreamModel: string, ms: number): void;
  /**
   * Records that an account's request was refused for a cause that may lie in the request. Returns the other account
   * that met that cause in the last 300,000 ms, which then witnesses that it lies in the key.
   */
  witnessOf(cause: string, accountId: string): string | undefined;
  /** The running cooldowns, as the milliseconds left of each model. */
  cooldowns(): ReadonlyMap<string, number>;
}

export function createHealth(options: CircuitOptions): Health {
  const { clock } = options;
  const circuit = createCircuit(options);
  const endsAtMs = new Map<string, number>();
  const refused = new Map<string, { readonly accountId: string; readonly untilMs: number }>();

  function cooldownLeftMs(upstreamModel: string): number {
    const endMs = endsAtMs.get(upstreamModel);
    if (endMs === undefined) return 0;
    const leftMs = endMs - clock();
    if (leftMs > 0) return leftMs;
    endsAtMs.delete(upstreamModel);
    return 0;
  }

  return {
    ...circuit,
    isCoolingDown: (upstreamModel) => cooldownLeftMs(upstreamModel) > 0,
    availableInMs: (upstreamModel, accountId) =>
      Math.max(circuit.waitMs(accountId), cooldownLeftMs(upstreamModel)),
    startCooldown(upstreamModel, ms) {
      // Not `ms <= 0`, which is false for NaN.
      if (!(ms > 0)) return;
      const endMs = clock() + Math.min(ms, COOLDOWN_MAX_MS);
      const earlierEndMs = endsAtMs.get(upstreamModel);
      endsAtMs.delete(upstreamModel);
      endsAtMs.set(upstreamModel, earlierEndMs === undefined ? endMs : Math.max(earlierEndMs, endMs));
      if (endsAtMs.size > COOLDOWNS_MAX) deleteFirst(endsAtMs);
    },
    witnessOf(cause, accountId) {
      const known = refused.get(cause);
      if (known && known.accountId !== accountId && clock() < known.untilMs) return known.accountId;
      refused.delete(cause);
      refused.set(cause, { accountId, untilMs: clock() + REFUSED_MS_MAX });
      if (refused.size > COOLDOWNS_MAX) deleteFirst(refused);
      return undefined;
    },
    cooldowns() {
      const left = [...endsAtMs.keys()].map((model) => [model, cooldownLeftMs(model)] as const);
      return new Map(left.filter(([, ms]) => ms > 0));
    },
  };
}

function deleteFirst(map: Map<string, unknown>): void {
  for (const key of map.keys()) {
    map.delete(key);
    return;
  }
}

/**
 * Returns the cooldown that a response requests, in milliseconds from 1. Reads `retry-after-ms`, or
 * `retry-after` in seconds or as a date. Returns `undefined` without a readable header. A date is compared
 * with the response's own `date`, which comes from the same clock. Without one, it is compared with `nowMs`.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9110#field.retry-after
 */
export function readRetryAfter(headers: Headers, nowMs: number): number | undefined {
  const ms =
    parseNumber(headers.get("retry-after-ms")) ??
    parseRetryAfter(headers.get("retry-after"), sentAtMs(headers) ?? nowMs);
  return ms !== undefined && ms >= 1 ? ms : undefined;
}

/** Time of the response by the upstream's clock, in Unix milliseconds. */
function sentAtMs(headers: Headers): number | undefined {
  const dateMs = Date.parse(headers.get("date") ?? "");
  return Number.isNaN(dateMs) ? undefined : dateMs;
}

function parseRetryAfter(value: string | null, nowMs: number): number | undefined {
  const seconds = parseNumber(value);
  if (seconds !== undefined) return seconds * 1_000;
  const dateMs = Date.parse(value ?? "");
  return Number.isNaN(dateMs) ? undefined : dateMs - nowMs;
}

function parseNumber(value: string | null): number | undefined {
  return value !== null && /^\d{1,12}(\.\d{1,6})?$/.test(value.trim()) ? Number(value) : undefined;
}
