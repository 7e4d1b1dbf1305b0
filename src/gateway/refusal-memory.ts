import type { Cause } from "../errors.ts";

const REFUSALS = 3;
const WINDOW_MS = 1000;
const KEYS_MAX = 10_000;

interface Memory {
  cause: Cause;
  count: number;
  sinceMs: number;
  untilMs: number;
}

/** Remembers keys that are out of money, so that one which hammers does not reach the ledger. */
export interface RefusalMemory {
  /** Why this key is refused for now, if it was refused three times within a second. */
  recall(keyId: string): Cause | undefined;
  note(keyId: string, cause: Cause): void;
}

/** After three refusals within a second the next second is answered from memory; bounded to 10,000 keys. */
export function createRefusalMemory(clock: () => number): RefusalMemory {
  const memories = new Map<string, Memory>();
  return {
    recall(keyId) {
      const memory = memories.get(keyId);
      return memory && clock() < memory.untilMs ? memory.cause : undefined;
    },
    note(keyId, cause) {
      const now = clock();
      let memory = memories.get(keyId);
      if (!memory || now - memory.sinceMs >= WINDOW_MS) {
        // All of it is a second old at most: forgetting it costs the ledger a few more questions.
        if (memories.size >= KEYS_MAX) memories.clear();
        memory = { cause, count: 0, sinceMs: now, untilMs: 0 };
        memories.set(keyId, memory);
      }
      memory.cause = cause;
      memory.count += 1;
      if (memory.count >= REFUSALS) memory.untilMs = now + WINDOW_MS;
    },
  };
}
