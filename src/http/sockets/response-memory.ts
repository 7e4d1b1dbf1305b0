import { bytesOf } from "../../domain/byte-blocks.ts";
import type { Items } from "../../wire/openai-responses/socket/create-body.ts";

/** What a small conversation takes beside its text. */
const ENTRY_BYTES_MIN = 1024;

/** A conversation in memory, as far as its latest response. */
export interface KeptItems {
  readonly items: Items;
  /** Gives the memory back. Without effect once it is forgotten. */
  release(): void;
}

interface Entry extends KeptItems {
  readonly bytes: number;
  forget(): void;
}

/** The conversations of one account, the oldest first. */
interface AccountEntries {
  readonly entries: Set<Entry>;
  bytes: number;
}

interface MemoryBounds {
  readonly bytesMax: number;
  readonly accountBytesMax: number;
}

/**
 * The conversations of all WebSockets of this process, within one bound for all and one for each account. An account
 * at its bound loses its oldest conversation. When all are at theirs, the account with the most loses its oldest.
 */
export class ResponseMemory {
  bytes = 0;
  readonly #bounds: MemoryBounds;
  readonly #accounts = new Map<string, AccountEntries>();

  constructor(bounds: MemoryBounds) {
    this.#bounds = bounds;
  }

  /** Keeps a conversation; `undefined` for one above the bound of an account. `onForget` may be called later. */
  keep(accountId: string, items: Items, onForget: () => void): KeptItems | undefined {
    const bytes = Math.max(ENTRY_BYTES_MIN, bytesOf(items));
    const { bytesMax, accountBytesMax } = this.#bounds;
    if (bytes > Math.min(bytesMax, accountBytesMax)) return undefined;
    while (this.#bytesOf(accountId) + bytes > accountBytesMax) this.#forgetOldest(accountId);
    while (this.bytes + bytes > bytesMax) this.#forgetOldest(this.#largest());
    const entry: Entry = {
      items,
      bytes,
      release: () => this.#delete(accountId, entry),
      forget: () => {
        this.#delete(accountId, entry);
        onForget();
      },
    };
    const account = this.#accounts.get(accountId) ?? { entries: new Set(), bytes: 0 };
    this.#accounts.set(accountId, account);
    account.entries.add(entry);
    account.bytes += bytes;
    this.bytes += bytes;
    return entry;
  }

  #delete(accountId: string, entry: Entry): void {
    const account = this.#accounts.get(accountId);
    if (!account?.entries.delete(entry)) return;
    account.bytes -= entry.bytes;
    this.bytes -= entry.bytes;
    if (account.entries.size === 0) this.#accounts.delete(accountId);
  }

  #forgetOldest(accountId: string): void {
    const [oldest] = this.#accounts.get(accountId)?.entries ?? [];
    oldest?.forget();
  }

  #largest(): string {
    let largest = "";
    let most = -1;
    for (const [accountId, { bytes }] of this.#accounts) {
      if (bytes > most) [largest, most] = [accountId, bytes];
    }
    return largest;
  }

  #bytesOf(accountId: string): number {
    return this.#accounts.get(accountId)?.bytes ?? 0;
  }
}
