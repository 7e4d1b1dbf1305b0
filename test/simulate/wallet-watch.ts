import { Database } from "bun:sqlite";
import { openLogIndex, type WriteAheadLogIndex } from "./log-index.ts";
import { Violation } from "./model.ts";
import { SpendingModel } from "./spending-model.ts";

interface WalletRow {
  readonly wallet_id: string;
  readonly over: bigint;
}

/** Looks at the wallets from outside after every commit, with a connection that only reads. */
export class WalletWatch {
  readonly client: Database;
  readonly #index: WriteAheadLogIndex | undefined;
  readonly #overspent;
  readonly #costAboveHolds;
  readonly #spending: SpendingModel;
  #changes = -1;

  constructor(path: string) {
    const client = new Database(path, { readonly: true, strict: true });
    client.query("PRAGMA busy_timeout = 0").get();
    this.client = client;
    this.#overspent = client
      .query<WalletRow, []>("SELECT wallet_id, held - posted AS over FROM wallets WHERE held > posted")
      .safeIntegers(true);
    // What may be missing in a wallet: costs above their holds, and costs of holds that had expired before.
    this.#costAboveHolds = client
      .query<{ cost: bigint | null }, [string]>(
        `SELECT sum(CASE WHEN late = 1 THEN captured ELSE max(captured - granted, 0) END) AS cost
          FROM holds WHERE wallet_id = ?`,
      )
      .safeIntegers(true);
    this.#spending = new SpendingModel(client);
    this.#overspent.all();
    this.#index = openLogIndex(path);
  }

  /** Throws a {@link Violation} when a commit since the last call has overspent a wallet or a spending limit. */
  check(): void {
    const changes = this.#index?.changes();
    if (changes === this.#changes) return;
    this.#changes = changes ?? -1;
    for (const { wallet_id, over } of this.#overspent.all()) {
      const most = this.#costAboveHolds.get(wallet_id)?.cost ?? 0n;
      if (over > most) throw new Violation(`wallet ${wallet_id} is overspent by ${over}`);
    }
    const exceeded = this.#spending.findExceeded();
    if (exceeded !== undefined) throw new Violation(exceeded);
  }

  close(): void {
    this.client.close();
  }
}
