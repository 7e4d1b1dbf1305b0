/** A request's id under both header names: the OpenAI SDKs read the first, the Anthropic SDKs the second. */
export function idHeaders(requestId: string): Record<string, string> {
  return { "x-request-id": requestId, "request-id": requestId };
}

/**
 * Returns a new UUIDv7 of the wall clock's time. Bun's own clock for UUIDv7 never goes back: after a wrong
 * hour was put right, the ledger would decline every id it makes as too far in the future.
 */
export function newRequestId(): string {
  return Bun.randomUUIDv7("hex", Date.now());
}
