import { afterAll, afterEach, beforeAll, beforeEach, expect } from "bun:test";
import type { Scope } from "../../../src/domain/scope.ts";
import type {
  ChargeRequest,
  ExtendRequest,
  HoldOptions,
  HoldRequest,
  Ledger,
} from "../../../src/ledger/ledger.ts";
import type { Metadata, OutcomeFacts, SpendLimit } from "../../../src/ledger/records.ts";
import type { RollUpStore } from "../../../src/ledger/roll-ups/store.ts";
import { errorCodeOf, FACTS, holdIdOf, NOON_MS } from "../samples.ts";

/** A ledger under test, with the controls that only tests have. */
export interface LedgerUnderTest {
  readonly ledger: Ledger;
  /** The store's own ledger, for thousands of commands that need not cross a connection. Default: `ledger`. */
  readonly direct?: Ledger;
  /** The ledger's clock, fixed at {@link NOON_MS} until a test changes it. */
  readonly clock: { nowMs: number };
  sweep(): Promise<number>;
  /** Takes one step of the roll-ups of usage. */
  rollUp(): Promise<boolean>;
  /** Opens the roll-ups as another process would, with a lease of its own. */
  openRollUps(): RollUpStore;
  /** A sweep by another process on the same database. */
  sweepElsewhere(): Promise<number>;
  /** Opens another ledger on the same database, as a second process would. Closed with this one. */
  openAnother(): Promise<Ledger>;
  /** Returns the findings and warnings of the audit. */
  audit(): Promise<readonly unknown[]>;
  close(): Promise<void>;
}

export type OpenLedger = () => Promise<LedgerUnderTest>;

const FUNDS = 100n;
/** Longer than the largest time to live of a hold. */
const YEARS_MS = 400 * 86_400_000;
const EVERYTHING = { size: 1000 };

/** Tests between two audits, which read the whole suite's journal. */
const AUDIT_EVERY = 250;

/**
 * Opens one ledger for a suite, with a new funded wallet for each test. After each test, every open hold must
 * expire and the held amount must be 0. After each 250th test and after the last, the audit must find nothing.
 */
export function useLedgerEnv(open: OpenLedger) {
  let opened: LedgerUnderTest | undefined;
  let wallets = 0;
  // A finding fails only the first test after which it exists.
  const foundBefore = new Set<string>();

  const underTest = () => {
    if (!opened) throw new Error("The ledger is only open during tests");
    return opened;
  };
  const ledger = () => underTest().ledger;
  const expectCleanAudit = async () => {
    const { rollUp, audit } = underTest();
    for (let steps = 0; steps < 1_000 && (await rollUp()); steps++);
    const found = (await audit()).filter((finding) => !foundBefore.has(Bun.inspect(finding)));
    for (const finding of found) foundBefore.add(Bun.inspect(finding));
    expect(found).toEqual([]);
  };
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
    const { clock, sweep } = underTest();
    try {
      clock.nowMs = Math.max(clock.nowMs, NOON_MS) + YEARS_MS;
      // Bounded: a hold that cannot expire stays due, and fails the check of the held amount below.
      for (let round = 0; round < 20 && (await sweep()) > 0; round++);
      if (wallets % AUDIT_EVERY === 0) await expectCleanAudit();
      expect(await ledger().balances(walletId())).toMatchObject({ held: 0n });
    } finally {
      clock.nowMs = NOON_MS;
    }
  });
  afterAll(async () => {
    underTest().clock.nowMs += YEARS_MS;
    await expectCleanAudit();
    await opened?.close();
  });

  return commandsOf(underTest, walletId);
}

export type LedgerEnv = ReturnType<typeof useLedgerEnv>;

/** The commands on the current test's wallet, with defaults. Holds are named, see {@link holdIdOf}. */
function commandsOf(underTest: () => LedgerUnderTest, walletId: () => string) {
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

  /** Runs commands that must be declined, and returns the codes. The wallet must be unchanged after them. */
  const errorCodes = async (commands: readonly (() => Promise<unknown>)[]) => {
    const before = await snapshot();
    const codes: string[] = [];
    for (const command of commands) codes.push(await errorCodeOf(command()));
    expect(await snapshot()).toEqual(before);
    return codes;
  };

  return {
    get walletId() {
      return walletId();
    },
    get ledger() {
      return ledger();
    },
    get direct() {
      return underTest().direct ?? ledger();
    },
    get clock() {
      return underTest().clock;
    },
    /** Runs of a random test: a quarter behind a connection, which decides nothing, unless by `bun run test:pairs`. */
    runsOf: (count: number) =>
      underTest().direct && process.env.TEST_PAIRS !== "all" ? Math.ceil(count / 4) : count,
    sweep: () => underTest().sweep(),
    rollUp: () => underTest().rollUp(),
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
    limits: (keyId?: string, scopes?: readonly Scope[]) => ledger().spendLimits(walletId(), keyId, scopes),
    /** Runs a command that must be declined, and returns the code. The wallet must be unchanged after it. */
    async errorCode(command: () => Promise<unknown>): Promise<string> {
      const [errorCode = ""] = await errorCodes([command]);
      return errorCode;
    },
    errorCodes,
  };
}
