import { GatewayError } from "../errors.ts";

/** The bytes of request bodies that this process holds in memory at once. */
export interface BodyBudget {
  /** Takes bytes, or throws `too_many_body_bytes` and takes none. */
  take(bytes: number): void;
  give(bytes: number): void;
}

export function createBodyBudget(bytesMax: number): BodyBudget {
  let taken = 0;
  return {
    take(bytes) {
      if (taken + bytes > bytesMax) throw new GatewayError("too_many_body_bytes", { retryAfterS: 1 });
      taken += bytes;
    },
    give(bytes) {
      taken -= bytes;
    },
  };
}
