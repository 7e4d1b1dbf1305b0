import { afterAll, afterEach, beforeAll, beforeEach, expect } from "bun:test";
import type {
  ChargeRequest,
  ExtendRequest,
  HoldOptions,
  HoldRequest,
  Ledger,
  Metadata,
  OutcomeFacts,
  SpendLimit,
} from "../../../src/ledger/ledger.ts";
import { FACTS, holdIdOf, NOON_MS, refusalOf } from "../samples.ts";

/** A ledger as a store or a server offers it, and what only a test may do to it. */
export interface LedgerUnderTest {
  readonly ledger: Ledger;
  /** The ledger's own clock; stands at {@link NOON_MS} until a test moves it. */
  readonly clock: { nowMs: number };
  sweep(): Promise<number>;
  /** A sweep by another process that shares the books. */
  sweepElsewhere(): Promise<number>;
  /** Another ledger over the same books, as a second process opens it. Closed with this one. */
  openAnother(): Promise<Ledger>;
  /** What contradicts an invariant, and holds past their time. Empty when the books are right. */
  audit(): Promise<readonly unknown[]>;
  close(): Promise<void>;
}

export type OpenLedger = () => Promise<LedgerUnderTest>;

const FUNDS = 100n;
/** Longer than a hold may live. */
const YEARS_MS = 400 * 86_400_000;
const EVERYTHING = { size: 1000 };

/**
 * One ledger for a whole suite, and in it a new funded wallet for each test. After each test every hold
 * that was left open must be able to expire, nothing may be held then, and the audit must find nothing.
 */
export function useBooks(open: OpenLedger) {
  let opened: LedgerUnderTest | undefined;
  let wallets = 0;
  // What one test broke is that test's failure, not that of all the others.
  const foundBefore = new Set<string>();

  const underTest = () => {
    if (!opened) throw new Error("the ledger is opened before the first test, not earlier");
    return opened;
  };
  const ledger = () => underTest().ledger;
  const walletId = () => `wallet-${wallets}`;

  beforeAll(async () => {
    opened = await open();
  });
  beforeEach(async () => {
    wallets += 1;
    await ledger().createWallet(walletId());
    await ledger().topUp({ walletId: walletId(), topUpId: "funds", amount: FUNDS });
  });
  afterEach(async () => {
    const { clock, sweep, audit } = underTest();
    try {
      clock.nowMs = Math.max(clock.nowMs, NOON_MS) + YEARS_MS;
      // Bounded: a hold that cannot expire would be due for ever, and shows as held below.
      for (let round = 0; round < 20 && (await sweep()) > 0; round++);
      const findings = await audit();
      const found = findings.filter((finding) => !foundBefore.has(Bun.inspect(finding)));
      for (const finding of found) foundBefore.add(Bun.inspect(finding));
      expect(found).toEqual([]);
      expect(await ledger().balances(walletId())).toMatchObject({ held: 0n });
    } finally {
      clock.nowMs = NOON_MS;
    }
  });
  afterAll(() => opened?.close());

  return verbsOf(underTest, walletId);
}

export type Books = ReturnType<typeof useBooks>;

/** The commands on the wallet of the running test, with all that a test leaves unsaid. Holds go by names. */
function verbsOf(underTest: () => LedgerUnderTest, walletId: () => string) {
  const ledger = () => underTest().ledger;
  const holdRequest = (name: string, amount: bigint, changes: Partial<HoldRequest> = {}): HoldRequest => ({
    walletId: walletId(),
    holdId: holdIdOf(name),
    keyId: "k1",
    amount,
    minimum: amount,
    ttlMs: 60_000,
    facts: { surface: "chat", model: "demo" },
    ...changes,
  });
  const chargeRequest = (
    chargeId: string,
    amount: bigint,
    changes: Partial<ChargeRequest> = {},
  ): ChargeRequest => ({
    walletId: walletId(),
    chargeId,
    keyId: "k1",
    amount,
    facts: { surface: "batch", model: "demo" },
    outcome: FACTS,
    ...changes,
  });
  const snapshot = async () => ({
    wallet: await ledger().wallet(walletId()),
    limits: await ledger().spendLimits(walletId()),
    receipts: (await ledger().receipts({ walletId: walletId() }, EVERYTHING)).items,
    transfers: (await ledger().transfers(walletId(), EVERYTHING)).items,
  });

  /** The refusals of commands, one after the other, after which the wallet must be as it was before. */
  const refusals = async (commands: readonly (() => Promise<unknown>)[]) => {
    const before = await snapshot();
    const said: string[] = [];
    for (const command of commands) said.push(await refusalOf(command()));
    expect(await snapshot()).toEqual(before);
    return said;
  };

  return {
    get walletId() {
      return walletId();
    },
    get ledger() {
      return ledger();
    },
    get clock() {
      return underTest().clock;
    },
    sweep: () => underTest().sweep(),
    sweepElsewhere: () => underTest().sweepElsewhere(),
    audit: () => underTest().audit(),
    openAnother: () => underTest().openAnother(),
    holdRequest,
    chargeRequest,
    snapshot,
    hold: (name: string, amount: bigint, changes?: Partial<HoldRequest>, options?: HoldOptions) =>
      ledger().hold(holdRequest(name, amount, changes), options),
    extend: (name: string, accrued: bigint, changes: Partial<ExtendRequest> = {}) =>
      ledger().extend({ walletId: walletId(), holdId: holdIdOf(name), accrued, ttlMs: 60_000, ...changes }),
    settle: (name: string, amount: bigint, facts: OutcomeFacts = FACTS, metadata?: Metadata) =>
      ledger().settle({ walletId: walletId(), holdId: holdIdOf(name), amount, facts, metadata }),
    release: (name: string, facts: OutcomeFacts = FACTS, metadata?: Metadata) =>
      ledger().release({ walletId: walletId(), holdId: holdIdOf(name), facts, metadata }),
    topUp: (topUpId: string, amount: bigint) => ledger().topUp({ walletId: walletId(), topUpId, amount }),
    charge: (chargeId: string, amount: bigint, changes?: Partial<ChargeRequest>) =>
      ledger().charge(chargeRequest(chargeId, amount, changes)),
    refund: (refundId: string, name: string, amount: bigint) =>
      ledger().refund({ walletId: walletId(), refundId, holdId: holdIdOf(name), amount }),
    limit: (limitId: string, amount: bigint, changes: Partial<SpendLimit> = {}) =>
      ledger().setSpendLimit({
        walletId: walletId(),
        limitId,
        keyId: "k1",
        period: "total",
        amount,
        ...changes,
      }),
    freeze: () => ledger().setWalletState({ walletId: walletId(), state: "frozen" }),
    balances: () => ledger().balances(walletId()),
    receipt: (name: string) => ledger().receipt(walletId(), holdIdOf(name)),
    limits: (keyId?: string) => ledger().spendLimits(walletId(), keyId),
    /** The refusal of a command, after which the wallet must be as it was before. */
    async refusal(command: () => Promise<unknown>): Promise<string> {
      const [refusal = ""] = await refusals([command]);
      return refusal;
    },
    refusals,
  };
}
