import { Database } from "bun:sqlite";
import type { CostsAbove } from "./costs-above.ts";
import type { CreditReckoning } from "./credits/reckoning.ts";
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
  readonly #costsAbove: CostsAbove;
  readonly #credits: CreditReckoning;
  readonly #spending: SpendingModel;
  #changes = -1;

  constructor(path: string, costsAbove: CostsAbove, credits: CreditReckoning) {
    const client = new Database(path, { readonly: true, strict: true });
    client.query("PRAGMA busy_timeout = 0").get();
    this.client = client;
    this.#overspent = client
      .query<WalletRow, []>("SELECT wallet_id, held - posted AS over FROM wallets WHERE held > posted")
      .safeIntegers(true);
    this.#costsAbove = costsAbove;
    this.#credits = credits;
    this.#spending = new SpendingModel(costsAbove);
    this.#overspent.all();
    this.#index = openLogIndex(path);
  }

  /**
   * Throws a {@link Violation} when a commit since the last call has overspent a wallet or a spending limit. Returns
   * whether there was one.
   */
  check(): boolean {
    const changes = this.#index?.changes();
    if (changes === this.#changes) return false;
    this.#changes = changes ?? -1;
    for (const { wallet_id, over } of this.#overspent.all()) {
      const most = this.#costsAbove.of(this.client, wallet_id) + this.#credits.overdrawn(wallet_id);
      if (over > most) throw new Violation(`wallet ${wallet_id} is overspent by ${over}`);
    }
    const exceeded = this.#spending.findExceeded(this.client);
    if (exceeded !== undefined) throw new Violation(exceeded);
    return true;
  }

  close(): void {
    this.client.close();
  }
}
