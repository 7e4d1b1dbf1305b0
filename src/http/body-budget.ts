import { GatewayError } from "../errors.ts";
import { BODY_BYTES_MAX } from "./body-size.ts";

/** The bytes of request bodies that this process holds in memory at once, in all and for each account. */
export interface BodyBudget {
  /** Takes bytes for an account, or throws `too_many_body_bytes` and takes none. */
  take(accountId: string, bytes: number): void;
  give(accountId: string, bytes: number): void;
}

export interface BodyBudgetOptions {
  readonly bytesMax: number;
  /** Default: a quarter of `bytesMax`, and no less than one body may have. */
  readonly accountBytesMax?: number | undefined;
}

export function createBodyBudget({
  bytesMax,
  accountBytesMax = Math.max(bytesMax / 4, BODY_BYTES_MAX),
}: BodyBudgetOptions): BodyBudget {
  const takenBy = new Map<string, number>();
  let taken = 0;
  return {
    take(accountId, bytes) {
      const ofAccount = (takenBy.get(accountId) ?? 0) + bytes;
      if (ofAccount > accountBytesMax || taken + bytes > bytesMax) {
        throw new GatewayError("too_many_body_bytes", { retryAfterS: 1 });
      }
      takenBy.set(accountId, ofAccount);
      taken += bytes;
    },
    give(accountId, bytes) {
      taken -= bytes;
      const left = (takenBy.get(accountId) ?? 0) - bytes;
      if (left > 0) takenBy.set(accountId, left);
      else takenBy.delete(accountId);
    },
  };
}
