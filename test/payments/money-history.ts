// Random histories of a wallet, and what each of their transfers was for, as the history itself knows it.
import fc from "fast-check";
import type { CreditSource } from "../../src/domain/credit.ts";
import { CREDIT_SOURCES } from "../../src/domain/credit.ts";
import type { Scope } from "../../src/domain/scope.ts";
import { LedgerError } from "../../src/ledger/ledger.ts";
import { bookEffect } from "../../src/payments/reversals.ts";
import type { TempStorage } from "../accounts/temp-storage.ts";

const DAY_MS = 86_400_000;
const FACTS = { surface: "chat", model: "m" };

/** What happens to a wallet. `pick` chooses a source, a project, a key, or a request from before. */
export interface Step {
  readonly kind: "top_up" | "ending" | "correction" | "request" | "refund" | "reversal" | "won";
  readonly pick: number;
  readonly amount: bigint;
  readonly waitMs: number;
}

export const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom(
    "top_up",
    "ending",
    "ending",
    "correction",
    "request",
    "request",
    "request",
    "refund",
    "reversal",
    "won",
  ),
  pick: fc.nat({ max: 99 }),
  amount: fc.bigInt({ min: 1n, max: 9_000_000_000_123n }),
  waitMs: fc.oneof(fc.integer({ min: 0, max: 5_000 }), fc.integer({ min: 0, max: 25 * DAY_MS })),
});

/** A wallet with a history, which keeps what each id stands for. */
export class MoneyHistory {
  readonly storage: TempStorage;
  readonly account: Awaited<ReturnType<TempStorage["newAccount"]>>;
  /** The source of each top-up. */
  readonly sources = new Map<string, CreditSource>();
  readonly reversals = new Set<string>();
  readonly projectOf = new Map<string, string>();
  readonly keyOf = new Map<string, string>();
  #made = 0;
  readonly #open: string[] = [];

  constructor(storage: TempStorage, account: Awaited<ReturnType<TempStorage["newAccount"]>>) {
    this.storage = storage;
    this.account = account;
  }

  async run({ kind, pick, amount, waitMs }: Step): Promise<void> {
    const { ledger, clock } = this.storage;
    clock.nowMs += waitMs;
    while ((await ledger.sweep()) > 0);
    this.#made += 1;
    const id = `s${this.#made}`;
    const walletId = this.account.id;
    const source = CREDIT_SOURCES[pick % CREDIT_SOURCES.length] ?? "purchase";
    if (kind === "top_up" || kind === "ending") {
      const expiresAtMs = kind === "ending" ? clock.nowMs + (1 + pick) * (DAY_MS / 2) : undefined;
      await ledger.topUp({ walletId, topUpId: id, amount, source, expiresAtMs });
      this.sources.set(id, source);
    } else if (kind === "correction") await ledger.topUp({ walletId, topUpId: id, amount: -amount });
    else if (kind === "request") await this.#request(pick, amount);
    else if (kind === "refund") await this.#refund(id, pick, amount);
    else if (kind === "reversal") await this.#reverse(`dp_${id}_${walletId.slice(-6)}`, amount);
    else await this.#win();
  }

  async #request(pick: number, amount: bigint): Promise<void> {
    const { ledger, clock } = this.storage;
    const walletId = this.account.id;
    const project = ["p1", "p2", walletId][pick % 3] ?? walletId;
    const keyId = `k${pick % 4}`;
    const scopes: readonly Scope[] = project === walletId ? [] : [{ kind: "project", id: project }];
    const upstreamCost = pick % 5 === 0 ? undefined : amount / 3n;
    const outcome = { outcome: "ok", source: "reported", attempts: [], upstreamCost } as const;
    const { available } = await ledger.balances(walletId);
    const holdId = Bun.randomUUIDv7("hex", clock.nowMs);
    if (available >= 0n) {
      const hold = { walletId, holdId, keyId, amount: 0n, minimum: 0n, ttlMs: 1_000, facts: FACTS, scopes };
      await ledger.hold(hold);
      await ledger.settle({ walletId, holdId, amount, facts: outcome });
      this.#keep(holdId, project, keyId);
    } else {
      // A wallet below zero takes no holds, but charges.
      const charge = { walletId, chargeId: holdId, keyId, amount, facts: FACTS, outcome, scopes };
      this.#keep((await ledger.charge(charge)).receiptId, project, keyId);
    }
  }

  #keep(receiptId: string, project: string, keyId: string): void {
    this.projectOf.set(receiptId, project);
    this.keyOf.set(receiptId, keyId);
  }

  async #refund(refundId: string, pick: number, amount: bigint): Promise<void> {
    const holdId = [...this.projectOf.keys()][pick % Math.max(this.projectOf.size, 1)];
    if (!holdId) return;
    const request = { walletId: this.account.id, refundId, holdId, amount: 1n + amount / 9n };
    await this.storage.ledger.refund(request).catch((fault) => {
      if (!(fault instanceof LedgerError) || fault.code === "unavailable") throw fault;
    });
  }

  async #reverse(id: string, amount: bigint): Promise<void> {
    const { database, clock } = this.storage;
    const { reversals } = database.tables;
    const row = {
      id,
      kind: "dispute" as const,
      accountId: this.account.id,
      paymentId: "pi_1",
      reversed: amount,
      amount,
      effect: "debit" as const,
      createdAtMs: clock.nowMs,
      bookedAtMs: null,
      returnedAtMs: null,
      returnBookedAtMs: null,
    };
    await database.transact(async (tx) => void (await tx.insert(reversals).values(row)));
    await bookEffect(this.storage, row);
    this.reversals.add(id);
    this.#open.push(id);
  }

  /** The oldest open dispute is won. */
  async #win(): Promise<void> {
    const id = this.#open.shift();
    if (id === undefined) return;
    const { db, tables } = this.storage.database;
    const rows = await db.select().from(tables.reversals);
    const row = rows.find((each) => each.id === id);
    if (row) await bookEffect(this.storage, { ...row, returnedAtMs: this.storage.clock.nowMs });
  }
}
