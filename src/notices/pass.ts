import { and, eq, isNull } from "drizzle-orm";
import { findNames } from "../accounts/find-items.ts";
import type { Database } from "../db/database.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type Balances, PAGE_SIZE_MAX, type SpendLimitUsage } from "../ledger/records.ts";
import { describeFault, type Log } from "../telemetry/log.ts";
import { findEndingCredits } from "./credit-ends.ts";
import {
  findFailingUpstreams,
  findFullLimits,
  findLowBalance,
  isFull,
  type KeyNames,
  type OwnerNames,
} from "./crossings.ts";
import { type Crossing, type EpisodeParts, endNotice, raiseNotice } from "./episodes.ts";
import type { CreditRule, NoticeRule, PercentRule } from "./rule.ts";
import { createRuleReader, type ReadRules } from "./rule-reader.ts";
import { markOf, SubjectWatch } from "./subject-watch.ts";
import { sumAttempts } from "./upstream-attempts.ts";

export interface PassParts extends EpisodeParts {
  readonly ledger: Pick<Ledger, "credits" | "fullLimits" | "spendLimits" | "wallet" | "wallets">;
  readonly log: Log;
}

/** Up to so many accounts are read one by one; more are found in the list of wallets. */
const SINGLE_READS_MAX = 100;
const WALLETS_PAGE = 1_000;
/** Pages of wallets in one pass: 20,000 wallets. The next pass continues there. */
const WALLET_PAGES_MAX = 20;
/** Accounts whose spending limits or credits one pass reads. The others wait for the next one. */
const LIMIT_READS_MAX = 500;
/** After so many passes every rule is evaluated again: a limit may have changed without a request, or time gone by. */
const FULL_EVERY = 20;

/** The subjects that have an episode now, by rule. */
type OpenSubjects = ReadonlyMap<string, ReadonlySet<string>>;

/** Evaluates all rules: begins and ends episodes. Its memory makes passes over unchanged wallets cheap. */
export class NoticePass {
  readonly #parts: PassParts;
  readonly #calmMs: number;
  readonly #readRules: ReadRules;
  readonly #readBalances: ReturnType<typeof createBalanceReader>;
  /** What was last evaluated of an account: its rules and its money. */
  readonly #evaluated = new Map<string, string>();
  /** Since when the threshold of an episode is no longer crossed. */
  readonly #calmSince = new Map<string, number>();
  readonly #subjects: SubjectWatch;
  #passes = 0;
  #isStopped = false;

  /** `calmMs` is how long a threshold must not be crossed before its episode ends. */
  constructor(parts: PassParts, calmMs: number) {
    this.#parts = parts;
    this.#calmMs = calmMs;
    this.#readRules = createRuleReader(parts.database);
    this.#readBalances = createBalanceReader(parts.ledger);
    this.#subjects = new SubjectWatch(parts);
  }

  async run(): Promise<void> {
    const readsAll = this.#passes % FULL_EVERY === 0;
    if (readsAll) {
      this.#evaluated.clear();
      this.#subjects.forget();
    }
    this.#passes += 1;
    const rules = await this.#readRules(readsAll);
    const open = await readOpen(this.#parts.database);
    await endOrphans(this.#parts, rules, open);
    await this.#watchUpstreams(
      rules.filter((rule) => rule.kind === "upstream_errors"),
      open,
    );
    await this.#watchMoney(
      rules.filter(({ kind }) => kind !== "upstream_errors"),
      open,
    );
  }

  async #watchUpstreams(rules: readonly PercentRule[], open: OpenSubjects): Promise<void> {
    if (rules.length === 0) return;
    const upstreams = await sumAttempts(this.#parts.database, this.#parts.now());
    for (const rule of rules) await this.#applyCrossings(rule, findFailingUpstreams(rule, upstreams), open);
  }

  async #watchMoney(rules: readonly NoticeRule[], open: OpenSubjects): Promise<void> {
    const byAccount = Map.groupBy(rules, ({ accountId }) => accountId);
    for (const accountId of this.#evaluated.keys())
      if (!byAccount.has(accountId)) this.#evaluated.delete(accountId);
    const found = await this.#readBalances(new Set(byAccount.keys()));
    let limitReads = 0;
    for (const [accountId, balances] of found) {
      if (this.#isStopped) return;
      const own = byAccount.get(accountId) ?? [];
      const mark = markOf(own, balances);
      const isOpen = own.some(({ id }) => open.has(id));
      if (this.#evaluated.get(accountId) === mark && !isOpen) continue;
      const readsLimits = own.some(({ kind }) => kind === "key_limit" || kind === "credit_ends");
      if (readsLimits && ++limitReads > LIMIT_READS_MAX) continue;
      try {
        await this.#watchAccount(accountId, own, balances, open);
        this.#evaluated.set(accountId, mark);
      } catch (fault) {
        this.#parts.log.warn(
          { account: accountId, ...describeFault(fault) },
          "notices of an account not watched",
        );
      }
    }
    // After those of all accounts: subjects may be a million.
    await this.#subjects.run(
      rules.filter((rule) => rule.kind === "subject_limit"),
      found,
    );
  }

  async #watchAccount(
    accountId: string,
    rules: readonly NoticeRule[],
    balances: Balances,
    open: OpenSubjects,
  ): Promise<void> {
    const limitRules = rules.filter((rule) => rule.kind === "key_limit");
    for (const rule of rules.filter((rule) => rule.kind === "balance_below")) {
      await this.#applyCrossings(rule, findLowBalance(rule, balances), open);
    }
    await this.#watchCredits(
      accountId,
      rules.filter((rule) => rule.kind === "credit_ends"),
      open,
    );
    if (limitRules.length === 0) return;
    const limits = await this.#parts.ledger.spendLimits(accountId, undefined, undefined, { omitsRuns: true });
    const full = limits.filter((limit) => limitRules.some((rule) => isFull(rule, limit)));
    const owners = await this.#readOwners(accountId, full);
    for (const rule of limitRules) await this.#applyCrossings(rule, findFullLimits(rule, full, owners), open);
  }

  async #watchCredits(accountId: string, rules: readonly CreditRule[], open: OpenSubjects): Promise<void> {
    if (rules.length === 0) return;
    const { ledger, now } = this.#parts;
    const { items } = await ledger.credits(accountId, { size: PAGE_SIZE_MAX }, { isLive: true });
    for (const rule of rules) await this.#applyCrossings(rule, findEndingCredits(rule, items, now()), open);
  }

  async #readOwners(accountId: string, full: readonly SpendLimitUsage[]): Promise<OwnerNames> {
    if (full.length === 0) return { keys: new Map(), scopes: new Map() };
    const { database } = this.#parts;
    const scopes = full.flatMap(({ scope }) => (scope && scope.kind !== "run" ? [scope] : []));
    return {
      keys: await readKeyNames(database, accountId),
      scopes: await findNames(database, accountId, scopes),
    };
  }

  /** Begins episodes of new crossings, and ends those whose threshold was not crossed for long enough. */
  async #applyCrossings(rule: NoticeRule, crossings: readonly Crossing[], open: OpenSubjects): Promise<void> {
    const begun = open.get(rule.id) ?? new Set();
    for (const crossing of crossings) {
      this.#calmSince.delete(`${rule.id} ${crossing.subject}`);
      if (begun.has(crossing.subject)) continue;
      if (await raiseNotice(this.#parts, rule, crossing)) {
        this.#parts.log.info({ account: rule.accountId, rule: rule.id, kind: rule.kind }, "notice raised");
      }
    }
    const crossed = new Set(crossings.map(({ subject }) => subject));
    for (const subject of begun) if (!crossed.has(subject)) await this.#endWhenCalm(rule.id, subject);
  }

  async #endWhenCalm(ruleId: string, subject: string): Promise<void> {
    const id = `${ruleId} ${subject}`;
    const nowMs = this.#parts.now();
    // A time of the future was taken before the clock was set back.
    const sinceMs = Math.min(this.#calmSince.get(id) ?? nowMs, nowMs);
    this.#calmSince.set(id, sinceMs);
    if (nowMs - sinceMs < this.#calmMs) return;
    await endNotice(this.#parts, { ruleId, subject });
    this.#calmSince.delete(id);
  }

  /** Lets a running pass end early. */
  stop(): void {
    this.#isStopped = true;
    this.#subjects.stop();
  }
}

/**
 * Reads the balances of accounts. Of many accounts, it reads the list of wallets, at most 20,000 wallets at a
 * time: in a larger ledger each call returns the next part.
 */
function createBalanceReader(ledger: PassParts["ledger"]) {
  let token: string | undefined;
  return async (accountIds: ReadonlySet<string>): Promise<ReadonlyMap<string, Balances>> => {
    const found = new Map<string, Balances>();
    if (accountIds.size <= SINGLE_READS_MAX) {
      for (const accountId of accountIds) {
        const wallet = await ledger.wallet(accountId);
        if (wallet) found.set(accountId, wallet.balances);
      }
      return found;
    }
    for (let page = 0; page < WALLET_PAGES_MAX; page++) {
      const { items, nextToken } = await ledger.wallets({ size: WALLETS_PAGE, token });
      for (const { walletId, balances } of items) {
        if (accountIds.has(walletId)) found.set(walletId, balances);
      }
      token = nextToken;
      if (token === undefined) break;
    }
    return found;
  };
}

async function readOpen({ db, tables: { openNotices } }: Database): Promise<OpenSubjects> {
  const open = new Map<string, Set<string>>();
  for (const { ruleId, subject } of await db.select().from(openNotices)) {
    const subjects = open.get(ruleId) ?? new Set();
    open.set(ruleId, subjects.add(subject));
  }
  return open;
}

/** Ends episodes of rules that were deleted or paused while a pass began them. */
async function endOrphans(parts: PassParts, rules: readonly NoticeRule[], open: OpenSubjects): Promise<void> {
  const known = new Set(rules.map(({ id }) => id));
  for (const [ruleId, subjects] of open) {
    if (known.has(ruleId)) continue;
    for (const subject of subjects) await endNotice(parts, { ruleId, subject });
  }
}

async function readKeyNames({ db, tables: { apiKeys } }: Database, accountId: string): Promise<KeyNames> {
  const { id, name, hint } = apiKeys;
  // A key that a key made meets its limit as it should.
  const isRoot = isNull(apiKeys.parentId);
  const isInForce = and(eq(apiKeys.accountId, accountId), isNull(apiKeys.revokedAtMs), isRoot);
  const rows = await db.select({ id, name, hint }).from(apiKeys).where(isInForce);
  return new Map(rows.map((row) => [row.id, row]));
}
