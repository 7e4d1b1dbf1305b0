/** A queue of items by owner. Owners alternate, so that no owner waits for all items of another. */
export interface FairQueue<Item> {
  readonly size: number;
  /** Returns how many items of an owner wait. */
  sizeOf(owner: string): number;
  push(owner: string, item: Item): void;
  /** Removes and returns the oldest item of the next owner; `undefined` when the queue is empty. */
  shift(): Item | undefined;
}

export function createFairQueue<Item>(): FairQueue<Item> {
  /** In the order of service; a served owner moves to the end. No list is empty. */
  const byOwner = new Map<string, Item[]>();
  let size = 0;
  return {
    get size() {
      return size;
    },
    sizeOf: (owner) => byOwner.get(owner)?.length ?? 0,
    push(owner, item) {
      const items = byOwner.get(owner);
      if (items) items.push(item);
      else byOwner.set(owner, [item]);
      size += 1;
    },
    shift() {
      const [next] = byOwner;
      if (!next) return undefined;
      const [owner, items] = next;
      byOwner.delete(owner);
      const item = items.shift();
      if (items.length > 0) byOwner.set(owner, items);
      size -= 1;
      return item;
    },
  };
}
