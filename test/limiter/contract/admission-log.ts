import type { Admission, AdmissionRequest, Limits } from "../../../src/limiter/limiter.ts";

/** One admission, as the one who keeps the log knows it. */
export interface Entry {
  readonly keyId: string;
  readonly accountId: string;
  readonly replica: number;
  /** True time, which nobody can set. */
  readonly atMs: number;
  readonly admission: Admission;
  /** The estimate; from the settlement on the actual; 0 once it is cancelled. */
  tokens: number;
  state: "running" | "settled" | "cancelled";
}

/** A key's or an account's side of a request: whose admissions count, and under which limits. */
export interface Side {
  readonly who: { readonly keyId: string } | { readonly accountId: string };
  readonly limits: Limits;
}

/** Every admission, one entry each, and nothing cleverer: the truth a limiter is held against. */
export interface AdmissionLog {
  readonly entries: Entry[];
  of(who: Side["who"]): readonly Entry[];
  /** How many requests and tokens of it the half-open last `windowMs` hold. */
  held(who: Side["who"], nowMs: number, windowMs: number): { requests: number; tokens: number };
  /** Whether the last `windowMs` would hold no more than N with this request. */
  hasRoom(request: AdmissionRequest, nowMs: number, windowMs: number): boolean;
}

export function createAdmissionLog(): AdmissionLog {
  const entries: Entry[] = [];

  function of(who: Side["who"]): readonly Entry[] {
    return entries.filter((entry) =>
      "keyId" in who ? entry.keyId === who.keyId : entry.accountId === who.accountId,
    );
  }

  function held(who: Side["who"], nowMs: number, windowMs: number): { requests: number; tokens: number } {
    const inside = of(who).filter(({ state, atMs }) => state !== "cancelled" && atMs > nowMs - windowMs);
    return { requests: inside.length, tokens: inside.reduce((sum, { tokens }) => sum + tokens, 0) };
  }

  return {
    entries,
    of,
    held,
    hasRoom: (request, nowMs, windowMs) =>
      sidesOf(request).every(({ who, limits }) => {
        const { requestsPerMinute = Infinity, tokensPerMinute = Infinity } = limits;
        if (requestsPerMinute === 0 || tokensPerMinute === 0) return false;
        const { requests, tokens } = held(who, nowMs, windowMs);
        return requests + 1 <= requestsPerMinute && tokens + request.tokens <= tokensPerMinute;
      }),
  };
}

export function sidesOf({ keyId, accountId, keyLimits, accountLimits }: AdmissionRequest): [Side, Side] {
  return [
    { who: { keyId }, limits: keyLimits },
    { who: { accountId }, limits: accountLimits },
  ];
}
