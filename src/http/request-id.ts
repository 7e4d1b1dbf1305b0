/** A request's id under both header names: the OpenAI SDKs read the first, the Anthropic SDKs the second. */
export function idHeaders(requestId: string): Record<string, string> {
  return { "x-request-id": requestId, "request-id": requestId };
}

/** A new id: time-ordered, ours, never taken from a client. */
export function newRequestId(): string {
  return Bun.randomUUIDv7();
}
