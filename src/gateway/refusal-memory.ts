import type { Nanos } from "../domain/money.ts";
import { type Decline, declineFor } from "./decline.ts";

const DECLINES = 3;
const WINDOW_MS = 1000;
const KEYS_MAX = 10_000;

interface Memory {
  decline: Decline;
  count: number;
  sinceMs: number;
  untilMs: number;
}

/** Remembers keys whose holds were declined, so that a caller who hammers does not reach the ledger. */
export interface RefusalMemory {
  /**
   * Why a hold of at least `needed` is declined for now, with amounts of its own. `undefined` where the ledger
   * has to decide: it declined fewer than three holds of the key within a second, or might grant this one.
   */
  recall(keyId: string, needed: Nanos): Decline | undefined;
  note(keyId: string, decline: Decline): void;
}

/** After three declines within a second the next second is answered from memory; bounded to 10,000 keys. */
export function createRefusalMemory(clock: () => number): RefusalMemory {
  const memories = new Map<string, Memory>();
  return {
    recall(keyId, needed) {
      const memory = memories.get(keyId);
      return memory && clock() < memory.untilMs ? declineFor(memory.decline, needed) : undefined;
    },
    note(keyId, decline) {
      const now = clock();
      let memory = memories.get(keyId);
      if (!memory || now - memory.sinceMs >= WINDOW_MS) {
        // All of it is a second old at most: forgetting it costs the ledger a few more questions.
        if (memories.size >= KEYS_MAX) memories.clear();
        memory = { decline, count: 0, sinceMs: now, untilMs: 0 };
        memories.set(keyId, memory);
      }
      memory.decline = decline;
      memory.count += 1;
      if (memory.count >= DECLINES) memory.untilMs = now + WINDOW_MS;
    },
  };
}
