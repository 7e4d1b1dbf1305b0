import type { CallerNames } from "./keys.ts";

/** The leases of this process's running requests. */
export interface Leases {
  /** The id of a new one. */
  next(): string;
  /** From now on it is renewed. */
  add(lease: string, names: CallerNames): void;
  drop(lease: string): void;
  /** Renews those that are to be renewed, all in one turn. */
  renew(isWanted: (names: CallerNames) => boolean): void;
}

/** `renewOne` must not reject. A lease's id is unlike that of any other process. */
export function createLeases(renewOne: (names: CallerNames, lease: string) => void): Leases {
  const live = new Map<string, CallerNames>();
  const processId = crypto.randomUUID();
  let count = 0;
  return {
    next() {
      count += 1;
      return `${processId}:${count.toString(36)}`;
    },
    add: (lease, names) => void live.set(lease, names),
    drop: (lease) => void live.delete(lease),
    renew(isWanted) {
      for (const [lease, names] of live) if (isWanted(names)) renewOne(names, lease);
    },
  };
}
