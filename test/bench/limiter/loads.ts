import type { AdmissionRequest, Limits } from "../../../src/limiter/limiter.ts";
import { ACCOUNTS_FEW, CALLERS_MANY, WAITING, WAITING_FEW } from "./plan.ts";

/** Who asks to be admitted, one after the other, and how many wait for an answer at any time. */
export interface AdmissionLoad {
  readonly name: string;
  readonly requests: readonly AdmissionRequest[];
  readonly waiting: number;
}

/** Limits that nobody reaches, of every kind: all of them are looked at. */
export const WIDE: Limits = { requestsPerMinute: 1e9, tokensPerMinute: 1e13, concurrentRequests: 1e6 };
export const TOKENS = 1_200;
const LOW: Limits = { ...WIDE, requestsPerMinute: 100 };

export function createLoads(): readonly AdmissionLoad[] {
  return [
    { name: "1 hot key", requests: [requestOf()], waiting: WAITING },
    {
      name: `${CALLERS_MANY} keys of as many accounts`,
      requests: Array.from({ length: CALLERS_MANY }, () => requestOf()),
      waiting: WAITING,
    },
    { name: `${CALLERS_MANY} keys of ${ACCOUNTS_FEW} accounts`, requests: ofFewAccounts(), waiting: WAITING },
    { name: "1 key at its limit", requests: [requestOf({ keyLimits: LOW })], waiting: WAITING },
    { name: "1 hot key, few waiting", requests: [requestOf()], waiting: WAITING_FEW },
    { name: "1 caller at a time", requests: [requestOf()], waiting: 1 },
  ];
}

/** A request of a key and an account that nobody else has. */
export function requestOf(special: Partial<AdmissionRequest> = {}): AdmissionRequest {
  return {
    accountId: Bun.randomUUIDv7(),
    keyId: Bun.randomUUIDv7(),
    keyLimits: WIDE,
    accountLimits: WIDE,
    tokens: TOKENS,
    ...special,
  };
}

function ofFewAccounts(): readonly AdmissionRequest[] {
  const accountIds = Array.from({ length: ACCOUNTS_FEW }, () => Bun.randomUUIDv7());
  return Array.from({ length: CALLERS_MANY }, (_, index) =>
    requestOf({ accountId: accountIds[index % ACCOUNTS_FEW] ?? "" }),
  );
}
