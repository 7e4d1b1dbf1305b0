import { describe, expect, test } from "bun:test";
import { CREDIT_SOURCES, type CreditSource } from "../../src/domain/credit.ts";
import { Credits, creditsOf, debtOf } from "../../src/ledger/core/credits.ts";
import {
  AFTER_EXPIRY,
  charge,
  command,
  create,
  DAY_MS,
  expire,
  extend,
  type Given,
  hold,
  lastDecision,
  refund,
  settle,
} from "./given.ts";
import { emptyWallet, type MemoryWallet } from "./memory-wallet.ts";
import { holdIdOf, NOON_MS, WALLET } from "./samples.ts";

const walletId = WALLET;

/** Grants a credit that ends so many days after noon; without days it never ends. */
const grant = (topUpId: string, amount: bigint, source: CreditSource = "purchase", days?: number) => {
  const expiresAtMs = days === undefined ? undefined : NOON_MS + days * DAY_MS;
  return command("top_up", { walletId, topUpId, amount, source, expiresAtMs });
};
const correct = (amount: bigint, creditId?: string) =>
  command("top_up", { walletId, topUpId: "c", amount: -amount, creditId });
/** A hold that outlives every end. */
const held = (amount: bigint, changes = {}) => hold(amount, { ttlMs: 300 * DAY_MS, ...changes });
const [one, two] = [{ holdId: holdIdOf("h1") }, { holdId: holdIdOf("h2") }];
/** A hold that is taken a day after noon. */
const late = { holdId: holdIdOf("late", NOON_MS + DAY_MS) };
const spend = (amount: bigint) => [held(amount), settle(amount)];
const releaseOf = ({ holdId }: { readonly holdId: string }) =>
  command("release", { walletId, holdId, facts: { outcome: "ok", source: "none", attempts: [] } });
const sweep = command("expire_credits", { walletId });

function walletAfter(given: readonly Given[]): MemoryWallet {
  const stored = emptyWallet();
  lastDecision([create, ...given], stored);
  return stored;
}

/** What is left of each credit in the order of spending, and what the wallet owes. */
function leftAfter(given: readonly Given[]): string {
  const { wallet, credits } = walletAfter(given);
  if (!wallet) throw new Error("There is no wallet");
  const all = creditsOf({ wallet, credits: new Credits(credits.values()) });
  for (const { creditId, left } of credits.values())
    if (left < 0n) throw new Error(`${creditId} has ${left}`);
  const debt = debtOf(wallet, all);
  const lefts = all.live.map(({ creditId, left }) => `${creditId} ${left}`);
  return [...lefts, ...(debt > 0n ? [`owes ${debt}`] : [])].join(", ");
}

/** The transfers of a wallet: what moved, and of which credits it says so. */
function transfersAfter(given: readonly Given[]): string {
  const { transfers } = walletAfter(given);
  const lines = transfers.map(({ transferId, amount, credits }) => {
    const parts = credits?.map(([seq, part]) => `${part} of ${seq}`).join(" and ") ?? "-";
    return `${transferId.replace(one.holdId, "h1")}: ${amount}, ${parts}`;
  });
  return lines.join("; ");
}

describe("credits are spent", () => {
  const all = CREDIT_SOURCES.toReversed().map((source) => grant(source, 1n, source));

  test.each<[string, readonly Given[], string]>([
    ["by source", all, "promotion 1, plan 1, refund 1, adjustment 1, purchase 1"],
    ["the first end first", [grant("b", 1n, "plan", 2), grant("a", 1n, "plan", 1)], "a 1, b 1"],
    ["by end before source", [grant("b", 1n, "promotion", 2), grant("a", 1n, "purchase", 1)], "a 1, b 1"],
    ["with an end before without", [grant("b", 1n, "promotion"), grant("a", 1n, "purchase", 9)], "a 1, b 1"],
    ["the oldest first", [grant("a", 1n), grant("b", 1n), grant("d", 1n, "plan")], "d 1, a 1, b 1"],
    ["one after the other", [grant("a", 5n, "plan"), grant("b", 5n), ...spend(7n)], "b 3"],
    ["to the nano", [grant("a", 5n, "plan"), grant("b", 5n), ...spend(5n)], "b 5"],
    ["into debt", [grant("a", 5n, "plan"), grant("b", 5n), held(1n), settle(13n)], "owes 3"],
    ["by a charge", [grant("a", 5n, "plan"), grant("b", 5n), charge(6n)], "b 4"],
    ["by a correction", [grant("a", 5n, "plan"), grant("b", 5n), correct(6n)], "b 4"],
    ["by a correction of one first", [grant("a", 5n, "plan"), grant("b", 5n), correct(6n, "b")], "a 4"],
    [
      "by a correction of more than there is",
      [grant("a", 5n, "plan"), grant("b", 5n), correct(12n, "b")],
      "owes 2",
    ],
    ["by a correction of none", [grant("a", 5n, "plan"), grant("b", 5n), correct(6n, "x")], "b 4"],
  ])("%s", (_name, given, left) => {
    expect(leftAfter(given)).toBe(left);
  });
});

describe("the end of a credit", () => {
  const soon = [grant("base", 10n), grant("soon", 10n, "purchase", 1)];
  const over = [...soon, held(6n), DAY_MS];

  test.each<[string, readonly Given[], string]>([
    ["is not before its time", [...soon, DAY_MS - 1, sweep], "soon 10, base 10"],
    ["is at its very millisecond", [...soon, DAY_MS, sweep], "base 10"],
    ["is booked before a hold", [...soon, DAY_MS, held(1n, late)], "base 10"],
    ["is booked before a charge", [...soon, DAY_MS, charge(1n)], "base 9"],
    ["is booked before a credit", [...soon, DAY_MS, grant("new", 1n, "plan")], "new 1, base 10"],
    ["is booked before a correction", [...soon, DAY_MS, correct(3n, "soon")], "base 7"],
    ["leaves what an open hold may spend", [...over, sweep], "soon 6, base 10"],
    ["leaves no more than the credit has", [...soon, held(16n), DAY_MS, sweep], "soon 10, base 10"],
    [
      "leaves what several holds may spend",
      [...soon, held(3n), held(4n, two), DAY_MS, sweep],
      "soon 7, base 10",
    ],
    ["takes what a settled hold leaves", [...over, settle(2n)], "base 10"],
    ["takes what a released hold leaves", [...over, releaseOf(one)], "base 10"],
    [
      "keeps what the next hold claims",
      [...soon, held(3n), held(4n, two), DAY_MS, settle(1n)],
      "soon 4, base 10",
    ],
    ["lets no hold take more of it than it held", [...over, settle(9n)], "base 7"],
    ["lets no later hold take of it", [...over, held(3n, late), settle(3n, late)], "soon 6, base 7"],
    ["lets no charge take of it", [...over, charge(3n)], "soon 6, base 7"],
    ["lets no correction take of it", [...over, correct(3n, "soon")], "soon 6, base 7"],
    ["keeps a claim beside a later hold", [...over, held(3n, late), releaseOf(late)], "soon 6, base 10"],
    [
      "lets a hold take what it held, beside another hold",
      [...soon, held(3n), held(4n, two), DAY_MS, settle(5n)],
      "soon 4, base 8",
    ],
    [
      "of two credits lets a hold take what it held once",
      [...soon, grant("too", 10n, "purchase", 1), held(12n), held(5n, two), DAY_MS, settle(15n)],
      "too 5, base 7",
    ],
    [
      "by a clock that was set back is booked after those before, which keep the claims",
      [grant("base", 10n), grant("soon", 10n, "purchase", 2), held(6n), ...setBackAfterEnd()],
      "soon 6, base 10",
    ],
    [
      "by a clock that was ahead lets no later hold take of it",
      [...over, DAY_MS, sweep, -DAY_MS, held(3n, late), settle(3n, late)],
      "soon 6, base 7",
    ],
    [
      "by a clock that was set back leaves the claims of holds before",
      [grant("base", 10n), held(10n), -2 * DAY_MS, grant("soon", 20n, "plan", -1), DAY_MS, sweep, settle(4n)],
      "base 10",
    ],
    [
      "of two credits keeps a claim once",
      [...soon, grant("too", 10n, "purchase", 1), held(12n), DAY_MS, sweep],
      "soon 10, too 2, base 10",
    ],
    [
      "of a second credit keeps nothing for a hold that the first one covers",
      [...soon, grant("then", 10n, "purchase", 2), held(6n), DAY_MS, sweep, DAY_MS, sweep],
      "soon 6, base 10",
    ],
    [
      "comes first in the order for the hold that claims it",
      [...soon, grant("now", 5n, "promotion", 2), held(6n), DAY_MS, settle(6n)],
      "now 5, base 10",
    ],
  ])("%s", (_name, given, left) => {
    expect(leftAfter(given)).toBe(left);
  });

  /** The end of "soon" is booked, then that of a credit with an earlier end. */
  function setBackAfterEnd(): readonly Given[] {
    return [2 * DAY_MS, sweep, -1.5 * DAY_MS, grant("back", 4n, "purchase", 1), DAY_MS, sweep];
  }

  test("is noted on the credit, whole", () => {
    expect(walletAfter([...over, settle(2n)]).credits.get(2)).toMatchObject({ left: 0n, expired: 8n });
  });

  test("is no end of a hold: one that fits what is left is granted, and one that does not is declined", () => {
    expect(lastDecision([create, ...soon, DAY_MS, held(10n, late)])).toMatchObject({ granted: 10n });
    expect(lastDecision([create, ...soon, DAY_MS, held(11n, late)])).toBe("insufficient_balance");
  });

  test("is booked by transfers: what no hold claims at once, the rest after the hold has ended", () => {
    expect(transfersAfter([...over, settle(2n)])).toBe(
      "base: 10, -; soon: 10, 10 of 2; expiry-2-3: 4, 4 of 2; h1: 2, 2 of 2; expiry-2-5: 4, 4 of 2",
    );
  });
});

describe("a credit first pays what the wallet owes", () => {
  const owing = [grant("a", 5n), held(5n), settle(8n)];

  test.each<[string, readonly Given[], string]>([
    ["all of it", [...owing, grant("b", 5n)], "b 2"],
    ["a part of it", [...owing, grant("b", 2n)], "owes 1"],
    ["exactly", [...owing, grant("b", 3n)], ""],
    ["also one that ends", [...owing, grant("b", 5n, "plan", 1)], "b 2"],
    ["also a refund", [...owing, refund(4n)], "a 1"],
    ["also a refund of a credit that ends", [...owingOfPlan(), refund(4n)], "a 1"],
    ["once with all parts of a refund", [...owingOfPlan(), refund(8n)], "a 5"],
    [
      "after credits that were spent",
      [grant("a", 5n, "plan"), grant("b", 1n), ...spend(6n), charge(2n), grant("d", 3n)],
      "d 1",
    ],
  ])("%s", (_name, given, left) => {
    expect(leftAfter(given)).toBe(left);
  });
});

function owingOfPlan(): readonly Given[] {
  return [grant("a", 5n, "plan", 9), held(5n), settle(8n)];
}

test("a credit that pays a debt says what is left of it", () => {
  const given = [...owingOfPlan(), grant("b", 5n)];
  expect(transfersAfter(given)).toBe("a: 5, 5 of 1; h1: 8, 5 of 1; b: 5, 2 of 3");
});

describe("a refund", () => {
  const taken = [grant("base", 10n), grant("soon", 10n, "plan", 2), ...spend(15n)];

  test.each<[string, readonly Given[], string]>([
    ["returns the last part first", [...taken, refund(3n)], "base 8"],
    ["returns the parts before it then", [...taken, refund(7n)], "soon 2, base 10"],
    ["returns what is left of a refund before", [...taken, refund(3n), refund(4n, "r2")], "soon 2, base 10"],
    [
      "goes to the newest credit of the time",
      [grant("a", 5n), ...spend(5n), grant("b", 5n), ...spendLater(), refund(2n, "r1", two.holdId)],
      "b 4",
    ],
    [
      "of an end that is booked grants a new credit, also after the clock was set back",
      [
        grant("base", 10n),
        grant("soon", 10n, "plan", 2),
        ...spend(4n),
        2 * DAY_MS,
        sweep,
        -DAY_MS,
        refund(3n),
      ],
      "r1 3, base 10",
    ],
    ["of debt never ends", [...owed(grant("b", 3n, "plan", 1)), refund(3n), 8 * DAY_MS, sweep], "r1 3"],
    ["returns the last capture first", [...takenTwice(), refund(4n)], "base 10"],
    ["of an ended credit grants a new one", [...taken, 2 * DAY_MS, refund(7n)], "r1 2, base 10"],
    ["of all grants one for all ended parts", [...taken, 2 * DAY_MS, refund(15n)], "r1 10, base 10"],
    ["a millisecond before the end goes back", [...taken, 2 * DAY_MS - 1, refund(7n)], "soon 2, base 10"],
    ["of debt goes to the newest credit without end", [...owed(), refund(3n)], "b 3"],
    [
      "of debt grants one without end after a credit with one",
      [...owed(grant("b", 3n, "plan", 1)), refund(3n)],
      "r1 3",
    ],
  ])("%s", (_name, given, left) => {
    expect(leftAfter(given)).toBe(left);
  });

  test("leaves what was granted as it was", () => {
    expect(walletAfter([...taken, refund(7n)]).credits.get(2)).toMatchObject({ amount: 10n, left: 2n });
  });

  test("without end is the newest credit of its wallet, which is simple then", () => {
    const { wallet } = walletAfter([...owed(grant("b", 3n, "plan", 1)), refund(3n)]);
    expect(wallet).toMatchObject({ newestCredit: 4, isMixed: false });
  });

  /** An expiry captures three of "soon", a late settlement one more and four of "base". */
  function takenTwice(): readonly Given[] {
    const granted = [grant("base", 10n), grant("soon", 4n, "plan", 2)];
    return [...granted, hold(9n), extend(3n), AFTER_EXPIRY, expire, settle(8n)];
  }

  function spendLater(): readonly Given[] {
    return [held(3n, two), settle(3n, two)];
  }

  /** Owes three, which a later credit has paid. */
  function owed(paying = grant("b", 3n)): readonly Given[] {
    return [grant("a", 5n, "plan", 9), held(5n), settle(8n), paying];
  }

  test("of an ended credit lasts for seven days, or as long as it says", () => {
    const lasting = (creditLifeMs?: number) =>
      command("refund", { walletId, refundId: "r1", holdId: one.holdId, amount: 7n, creditLifeMs });
    const ended = [...taken, 2 * DAY_MS];
    expect(leftAfter([...ended, lasting(), 7 * DAY_MS - 1, sweep])).toBe("r1 2, base 10");
    expect(leftAfter([...ended, lasting(), 7 * DAY_MS, sweep])).toBe("base 10");
    expect(leftAfter([...ended, lasting(5), 4, sweep])).toBe("r1 2, base 10");
    expect(leftAfter([...ended, lasting(5), 5, sweep])).toBe("base 10");
  });
});

describe("a wallet", () => {
  const isMixed = (...given: readonly Given[]) => walletAfter(given).wallet?.isMixed;

  test.each<[string, boolean, readonly Given[]]>([
    ["with one credit is simple", false, [grant("a", 5n)]],
    ["with one credit that ends is mixed", true, [grant("a", 5n, "purchase", 1)]],
    ["with two credits is mixed", true, [grant("a", 5n), grant("b", 5n)]],
    ["whose first credit is spent is simple", false, [grant("a", 5n), ...spend(5n), grant("b", 5n)]],
    ["whose newest credit is left is simple again", false, [grant("a", 5n), grant("b", 5n), ...spend(6n)]],
    ["whose older credit is left stays mixed", true, [grant("a", 5n), grant("b", 5n, "plan"), ...spend(5n)]],
    ["whose credit has ended is simple again", false, [grant("a", 5n, "plan", 1), DAY_MS, sweep]],
    [
      "whose spent credit gets a refund is mixed",
      true,
      [grant("a", 5n), ...spend(5n), grant("b", 5n), refund(2n)],
    ],
  ])("%s", (_name, mixed, given) => {
    expect(isMixed(...given)).toBe(mixed);
  });

  test("says what a transfer was taken from only while it is mixed", () => {
    const given = [grant("a", 5n), grant("b", 5n), ...spend(6n), charge(1n)];
    expect(transfersAfter(given)).toBe("a: 5, -; b: 5, 5 of 2; h1: 6, 5 of 1 and 1 of 2; c1: 1, -");
  });
});

test("a credit that is spent is no longer live, also in a book that listed it", () => {
  const credits = new Credits(walletAfter([grant("a", 5n), grant("b", 5n)]).credits.values());
  expect(credits.live.map(({ creditId }) => creditId)).toEqual(["a", "b"]);
  const [first] = credits.live;
  if (first) credits.set({ ...first, left: 0n });
  expect(credits.live.map(({ creditId }) => creditId)).toEqual(["b"]);
});

test("a credit that comes to a book that listed others has its place in the order of spending", () => {
  const credits = new Credits(walletAfter([grant("a", 5n), grant("b", 5n, "promotion", 9)]).credits.values());
  expect(credits.live.map(({ creditId }) => creditId)).toEqual(["b", "a"]);
  const [first] = credits.live;
  if (first) credits.set({ ...first, seq: 9, creditId: "soon", expiresAtMs: NOON_MS + DAY_MS });
  expect(credits.live.map(({ creditId }) => creditId)).toEqual(["soon", "b", "a"]);
});

test("what a wallet had before credits were kept is its first credit", () => {
  const stored = walletAfter([grant("a", 10n)]);
  stored.credits.clear();
  if (stored.wallet) stored.wallet = { ...stored.wallet, newestCredit: 0 };
  lastDecision([grant("b", 5n), ...spend(4n)], stored);
  const lefts = [...stored.credits.values()].map(({ creditId, left }) => `${creditId} ${left}`);
  expect(lefts.sort()).toEqual(["b 5", "before-credits 6"]);
});

describe("a credit is declined", () => {
  test.each<[string, readonly Given[], string]>([
    ["with an end that is now", [grant("a", 1n, "plan", 0)], "invalid_credit"],
    ["with another source for its id", [grant("a", 1n), grant("a", 1n, "plan")], "conflict"],
    ["with another end for its id", [grant("a", 1n), grant("a", 1n, "purchase", 1)], "conflict"],
    ["with a source that is none", [grant("a", 1n, "gift" as CreditSource)], "invalid_credit"],
    ["beside a thousand others", [...thousand(1_000), grant("a", 1n, "plan")], "invalid_credit"],
    [
      "beside a thousand of other ends",
      [...thousand(1_000), grant("a", 1n, "promotion", 2_000)],
      "invalid_credit",
    ],
  ])("%s", (_name, given, code) => {
    expect(lastDecision([create, ...given])).toBe(code);
  });

  test("not beside 999 others", () => {
    const { credits } = walletAfter([...thousand(999), grant("a", 1n, "plan")]);
    expect(credits.get(1_000)).toMatchObject({ creditId: "a", left: 1n });
  });

  test("not beside a thousand with one alike, which it is added to", () => {
    const { credits } = walletAfter([...thousand(1_000), grant("a", 5n, "promotion", 1_000)]);
    expect(credits.get(1_000)).toMatchObject({ creditId: "g999", amount: 6n, left: 6n });
    expect(credits.size).toBe(1_000);
  });

  test("not from a hundred on with one alike, which it is added to", () => {
    const alike = (count: number) => Array.from({ length: count }, (_, index) => grant(`g${index}`, 1n));
    expect(walletAfter(alike(100)).credits.size).toBe(100);
    const { credits } = walletAfter([...alike(100), grant("a", 5n)]);
    expect(credits.get(100)).toMatchObject({ creditId: "g99", amount: 6n, left: 6n });
    expect(credits.size).toBe(100);
    const others = [grant("a", 5n, "plan"), grant("b", 5n, "purchase", 1)];
    expect(walletAfter([...alike(100), ...others]).credits.size).toBe(102);
  });

  function thousand(count: number): readonly Given[] {
    return Array.from({ length: count }, (_, index) => grant(`g${index}`, 1n, "promotion", index + 1));
  }
});
