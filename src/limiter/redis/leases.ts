import { randomBytes } from "node:crypto";
import type { CallerIds } from "./keys.ts";
import { chunked } from "./turns.ts";

/** The leases of this process's running requests. */
export interface Leases {
  /** The id of a new one. */
  next(): string;
  /** From now on it is renewed. */
  add(lease: string, names: CallerIds): void;
  /** Returns whether it was ever renewed. */
  drop(lease: string): boolean;
  has(lease: string): boolean;
  /** Renews all of them; never rejects. */
  renew(): Promise<void>;
}

interface Live {
  readonly names: CallerIds;
  isRenewed: boolean;
}

/** Short, as Redis keeps it with every lease; no two processes are ever given the same. */
const PROCESS_ID_BYTES = 12;

/** `renewOne` must not reject. A lease's id is unlike that of any other process. */
export function createLeases(renewOne: (names: CallerIds, lease: string) => Promise<void>): Leases {
  const live = new Map<string, Live>();
  const processId = randomBytes(PROCESS_ID_BYTES).toString("base64url");
  let count = 0;

  async function renewLive([lease, each]: readonly [string, Live]): Promise<void> {
    if (!live.has(lease)) return;
    each.isRenewed = true;
    await renewOne(each.names, lease);
  }

  return {
    next() {
      count += 1;
      return `${processId}:${count.toString(36)}`;
    },
    add: (lease, names) => void live.set(lease, { names, isRenewed: false }),
    drop(lease) {
      const isRenewed = live.get(lease)?.isRenewed ?? false;
      live.delete(lease);
      return isRenewed;
    },
    has: (lease) => live.has(lease),
    renew: () => chunked([...live], renewLive),
  };
}
