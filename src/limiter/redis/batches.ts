import { Batch } from "./batch.ts";
import { CHUNK_SIZE } from "./scripts.ts";

/** The batches of this event-loop turn. */
export interface Batches {
  /** Returns the batch for one more request of a group. Requests of different groups share no call. */
  open(group: string): Batch;
}

/**
 * Sends the requests of one event-loop turn together: a busy caller is loaded and saved once for all of them.
 * A batch has at most {@link CHUNK_SIZE} requests. `send` must not reject.
 */
export function createBatches(send: (batch: Batch) => void): Batches {
  const pending = new Map<string, Batch>();

  function flush(): void {
    const batches = [...pending.values()];
    pending.clear();
    for (const batch of batches) send(batch);
  }

  return {
    open(group) {
      let batch = pending.get(group);
      if (batch && batch.size < CHUNK_SIZE) return batch;
      if (batch) send(batch);
      if (pending.size === 0) setImmediate(flush);
      batch = new Batch();
      pending.set(group, batch);
      return batch;
    },
  };
}
