import type { WindowSnapshot } from "../limit-state.ts";

/** Requests, tokens, ms until each is whole again, running. */
export const STANDING_LENGTH = 5;

/** Reads what `append_standing` of `caller.lua` wrote. */
export function readStanding(reply: readonly number[], at: number): WindowSnapshot {
  const [requests = 0, tokens = 0, requestsResetMs = 0, tokensResetMs = 0, running = 0] = reply.slice(
    at,
    at + STANDING_LENGTH,
  );
  return {
    requests,
    tokens,
    running,
    resetMs: (of) => (of === "requests" ? requestsResetMs : tokensResetMs),
  };
}
