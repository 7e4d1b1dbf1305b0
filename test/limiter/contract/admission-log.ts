import type { Admission, AdmissionRequest, Limits } from "../../../src/limiter/limiter.ts";

/** One admission of the log. */
export interface Entry {
  readonly keyId: string;
  readonly accountId: string;
  readonly replica: number;
  /** True time, not affected by setting the clock. */
  readonly atMs: number;
  readonly admission: Admission;
  /** The estimate; after the settlement the actual; 0 when cancelled. */
  tokens: number;
  state: "running" | "settled" | "cancelled";
}

/** The key or the account of a request, with its limits. */
export interface Side {
  readonly subject: { readonly keyId: string } | { readonly accountId: string };
  readonly limits: Limits;
}

/** A plain list of every admission: the reference for a limiter. */
export interface AdmissionLog {
  readonly entries: Entry[];
  of(subject: Side["subject"]): readonly Entry[];
  /** Returns the requests and tokens of the half-open last `windowMs`. */
  held(subject: Side["subject"], nowMs: number, windowMs: number): { requests: number; tokens: number };
  /** Whether the last `windowMs` including this request would stay within the limits. */
  hasRoom(request: AdmissionRequest, nowMs: number, windowMs: number): boolean;
}

export function createAdmissionLog(): AdmissionLog {
  const entries: Entry[] = [];

  function of(subject: Side["subject"]): readonly Entry[] {
    return entries.filter((entry) =>
      "keyId" in subject ? entry.keyId === subject.keyId : entry.accountId === subject.accountId,
    );
  }

  function held(
    subject: Side["subject"],
    nowMs: number,
    windowMs: number,
  ): { requests: number; tokens: number } {
    const inside = of(subject).filter(({ state, atMs }) => state !== "cancelled" && atMs > nowMs - windowMs);
    return { requests: inside.length, tokens: inside.reduce((sum, { tokens }) => sum + tokens, 0) };
  }

  return {
    entries,
    of,
    held,
    hasRoom: (request, nowMs, windowMs) =>
      sidesOf(request).every(({ subject, limits }) => {
        const { requestsPerMinute = Infinity, tokensPerMinute = Infinity } = limits;
        if (requestsPerMinute === 0 || tokensPerMinute === 0) return false;
        const { requests, tokens } = held(subject, nowMs, windowMs);
        return requests + 1 <= requestsPerMinute && tokens + request.tokens <= tokensPerMinute;
      }),
  };
}

export function sidesOf({ keyId, accountId, keyLimits, accountLimits }: AdmissionRequest): [Side, Side] {
  return [
    { subject: { keyId }, limits: keyLimits },
    { subject: { accountId }, limits: accountLimits },
  ];
}
