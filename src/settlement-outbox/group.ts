/** Commits together what comes together. */
export interface Group<Item> {
  /** Resolves when the item is committed; rejects with what its commit threw. */
  add(item: Item): Promise<void>;
  /** Items that are not committed yet. */
  readonly waiting: number;
  /** Resolves when none is. */
  idle(): Promise<void>;
}

/**
 * Gathers what one turn of the event loop brings, and then what comes while the disk works: one commit runs
 * at a time.
 */
export function createGroup<Item>(commit: (items: readonly Item[]) => Promise<void>): Group<Item> {
  let next: { readonly items: Item[]; readonly done: PromiseWithResolvers<void> } | undefined;
  let committing = 0;
  let running: Promise<void> | undefined;

  const run = async () => {
    // Not at once: the rest of this turn is to come along.
    await new Promise(setImmediate);
    while (next) {
      const { items, done } = next;
      next = undefined;
      committing = items.length;
      await commit(items).then(done.resolve, done.reject);
      committing = 0;
    }
    running = undefined;
  };

  return {
    add(item) {
      next ??= { items: [], done: Promise.withResolvers() };
      next.items.push(item);
      running ??= run();
      return next.done.promise;
    },
    get waiting() {
      return committing + (next?.items.length ?? 0);
    },
    idle: async () => running,
  };
}
