import type { Effort } from "../domain/chat-request.ts";

const EFFORTS: ReadonlySet<unknown> = new Set<Effort>([
  "none",
  "minimal",
  "low",
  "medium",
  "high",
  "xhigh",
  "max",
]);

/** Whether it is a word for how much to reason that some provider has. */
export function isEffort(value: unknown): value is Effort {
  return EFFORTS.has(value);
}
