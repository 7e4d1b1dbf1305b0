import { GatewayError } from "../errors.ts";

/** Maximum size of one request body: 30 MiB. */
export const BODY_BYTES_MAX = 30 * 1024 * 1024;

/** Bounds the bytes of request bodies in memory, for this process and for each account. */
export interface BodyBudget {
  /**
   * Reserves bytes for an account. Throws `too_many_body_bytes` and reserves nothing when a bound is
   * exceeded.
   */
  take(accountId: string, bytes: number): void;
  give(accountId: string, bytes: number): void;
}

export interface BodyBudgetOptions {
  readonly bytesMax: number;
  /** Default: a quarter of `bytesMax`, and at least {@link BODY_BYTES_MAX}. */
  readonly accountBytesMax?: number | undefined;
}

export function createBodyBudget({
  bytesMax,
  accountBytesMax = Math.max(bytesMax / 4, BODY_BYTES_MAX),
}: BodyBudgetOptions): BodyBudget {
  const takenByAccount = new Map<string, number>();
  let taken = 0;
  return {
    take(accountId, bytes) {
      const accountBytes = (takenByAccount.get(accountId) ?? 0) + bytes;
      if (accountBytes > accountBytesMax || taken + bytes > bytesMax) {
        throw new GatewayError("too_many_body_bytes", { retryAfterS: 1 });
      }
      takenByAccount.set(accountId, accountBytes);
      taken += bytes;
    },
    give(accountId, bytes) {
      taken -= bytes;
      const left = (takenByAccount.get(accountId) ?? 0) - bytes;
      if (left > 0) takenByAccount.set(accountId, left);
      else takenByAccount.delete(accountId);
    },
  };
}
