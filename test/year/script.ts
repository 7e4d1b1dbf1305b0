// What the people of one account do, as its own random numbers say.
import { expect } from "bun:test";
import { parseUsd } from "../../src/domain/money.ts";
import type { ReckonedCommand } from "../plans/reckoning.ts";
import { drawInteger, drawOne, drawWeighted, type RandomSource } from "../support/seeded-random.ts";
import type { AccountYear, HeldRequest } from "./account-year.ts";
import type { Acts } from "./acts.ts";
import { BilledReckoning } from "./billed-reckoning.ts";
import { actAtStripe, buyPlan, commandBilled } from "./billed-script.ts";
import type { Desk } from "./desk.ts";
import { PLANS, reckonedPlan } from "./plans.ts";
import { mustDo, type Stage } from "./stage.ts";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const ZONES = ["UTC", "UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"];
const BEHAVIOURS = ["ok", "ok", "ok", "processing", "generic_decline", "requires_action"];

type Play = (stage: Stage, account: AccountYear) => Promise<void>;

const PLAYS: readonly { readonly weight: number; readonly play: Play }[] = [
  { weight: 40, play: spend },
  { weight: 10, play: endOpen },
  { weight: 5, play: refund },
  { weight: 10, play: changePlan },
  { weight: 16, play: actAtStripe },
  { weight: 4, play: promote },
  { weight: 3, play: correct },
  { weight: 5, play: checkout },
  { weight: 4, play: reverseAtStripe },
  { weight: 5, play: payIn },
  { weight: 3, play: takeBack },
  { weight: 2, play: makeCodes },
  { weight: 4, play: redeem },
  { weight: 4, play: behave },
  { weight: 3, play: setAuto },
];

/** Plays one step of an account. */
export async function playAccount(stage: Stage, account: AccountYear): Promise<void> {
  await drawWeighted(account.draw, PLAYS).play(stage, account);
}

/** Subscribes an account that has no subscription: its owner buys a plan that is sold, or an operator assigns one. */
export async function begin(stage: Stage, account: AccountYear): Promise<void> {
  const { desk, nowMs } = stage;
  const { id: accountId, draw } = account;
  const { id: planId, sale } = drawOne(draw, PLANS);
  if (sale && draw() < 0.8) return buyPlan(stage, account, planId);
  const timeZone = drawOne(draw, ZONES);
  const { id } = await mustDo(desk, { kind: "subscribe", accountId, planId, timeZone });
  account.subscribed(id ?? "", planId, timeZone, nowMs);
}

async function spend({ desk, nowMs }: Stage, account: AccountYear): Promise<void> {
  const { draw, id: walletId, book } = account;
  const available = book.availableAt(nowMs);
  const most = available > 0n ? available : parseUsd("1");
  // At times a nano too much.
  const amount = draw() < 0.1 ? most + 1n : partOf(draw, draw() < 0.3 ? most : capped(most, parseUsd("8")));
  const holdId = Bun.randomUUIDv7("hex", nowMs);
  const isForgotten = draw() < 0.03 && !account.holds.some(isForgettable(nowMs));
  const ttlMs = isForgotten ? 2 * DAY_MS : 40 * DAY_MS;
  const answer = await desk.act({ kind: "hold", walletId, holdId, amount, ttlMs });
  const isAdmitted = !("declined" in answer);
  expect([walletId, "admits", amount, isAdmitted]).toEqual([
    walletId,
    "admits",
    amount,
    account.admits(amount, nowMs),
  ]);
  if (!isAdmitted) return;
  book.move(nowMs, { kind: "", id: holdId, amount: 0n }, () => book.money.take(holdId, amount, nowMs));
  const times = { atMs: nowMs, endsAtMs: nowMs + ttlMs };
  const hold: HeldRequest = { holdId, granted: amount, ...times, state: "open", captured: 0n, refunded: 0n };
  account.holds.push(hold);
  if (!isForgotten && draw() < 0.8) await end({ desk, nowMs }, account, hold);
}

/** At most one forgotten request of an account is under way: two of one sweep could end in any order. */
function isForgettable(nowMs: number): (hold: HeldRequest) => boolean {
  return ({ state, atMs, endsAtMs }) =>
    state === "open" && endsAtMs - atMs < 3 * DAY_MS && endsAtMs > nowMs - DAY_MS;
}

async function endOpen(stage: Stage, account: AccountYear): Promise<void> {
  const { draw, holds } = account;
  const ended = holds.filter(
    ({ state, atMs }) => state === "open" || (state === "expired" && atMs > stage.nowMs - 9 * DAY_MS),
  );
  // The oldest first: none of them outlives its lease.
  const hold = draw() < 0.5 ? ended[0] : ended.at(-1);
  if (hold) await end(stage, account, hold);
}

/** Ends what would expire before the next steps. */
export async function endOld(stage: Pick<Stage, "desk" | "nowMs">, account: AccountYear): Promise<void> {
  const old = account.holds.filter(
    ({ state, atMs, endsAtMs }) =>
      state === "open" && endsAtMs - atMs > 3 * DAY_MS && endsAtMs < stage.nowMs + 12 * DAY_MS,
  );
  for (const hold of old) await end(stage, account, hold);
}

async function end(
  { desk, nowMs }: Pick<Stage, "desk" | "nowMs">,
  account: AccountYear,
  hold: HeldRequest,
): Promise<void> {
  const { draw, id: walletId, book } = account;
  const { holdId, granted } = hold;
  const isLate = hold.state === "expired";
  if (!isLate && draw() < 0.15) {
    await mustDo(desk, { kind: "release", walletId, holdId });
    book.move(nowMs, { kind: "", id: holdId, amount: 0n }, () => book.money.release(holdId, nowMs));
    hold.state = "ended";
    return;
  }
  // A true cost is never refused, also above the hold.
  const amount = draw() < 0.05 ? granted + partOf(draw, granted) : partOf(draw, granted);
  await mustDo(desk, { kind: "settle", walletId, holdId, amount });
  const kind = isLate ? "late_settlement" : "settlement";
  book.move(nowMs, { kind, id: isLate ? `${holdId}` : holdId, holdId, amount: -amount }, () =>
    book.money.settle(holdId, amount, nowMs),
  );
  hold.state = "ended";
  hold.captured = amount;
}

async function refund({ desk, nowMs }: Stage, account: AccountYear): Promise<void> {
  const { draw, id: walletId, book } = account;
  // Requests of other months: a refund lowers what a limit has counted.
  const past = account.holds.filter(
    ({ state, captured, refunded, atMs }) =>
      state === "ended" && captured > refunded && atMs < nowMs - 33 * DAY_MS && atMs > nowMs - 90 * DAY_MS,
  );
  if (past.length === 0) return;
  const hold = drawOne(draw, past);
  const { holdId } = hold;
  const amount = partOf(draw, hold.captured - hold.refunded);
  const refundId = `refund-${holdId}-${hold.refunded}`;
  await mustDo(desk, { kind: "refund", walletId, holdId, refundId, amount });
  book.move(nowMs, { kind: "refund", id: refundId, holdId, amount }, () =>
    book.money.refund(holdId, refundId, amount, nowMs),
  );
  hold.refunded += amount;
}

async function changePlan(stage: Stage, account: AccountYear): Promise<void> {
  const { desk, nowMs } = stage;
  const { draw, subscription } = account;
  if (!subscription) return begin(stage, account);
  const { reckoning } = subscription;
  if (reckoning instanceof BilledReckoning) return commandBilled(stage, account, reckoning);
  const kind = drawOne(draw, ["pause", "resume", "resume", "change", "change", "change", "cancel"] as const);
  const planId = drawOne(draw, PLANS).id;
  const when = drawOne(draw, ["now", "period_end", "period_end", "either"] as const);
  const at = kind === "cancel" && when === "either" ? "period_end" : when;
  const version = await stage.versionOf(subscription.id);
  const asked = at === "either" ? {} : { when: at };
  const of = { subscriptionId: subscription.id, version };
  const answer = await desk.act({ kind: "command", ...of, ...asked, does: kind, planId });
  const wanted = reckonedCommand(kind, planId, at === "either" ? undefined : at);
  const isAccepted = reckoning.command(wanted, version, nowMs);
  const shown = [account.id, kind, planId, at];
  expect([...shown, !("declined" in answer)]).toEqual([...shown, isAccepted]);
  account.expectGrants();
}

function reckonedCommand(
  kind: Acts["command"]["does"],
  planId: string,
  when: "now" | "period_end" | undefined,
): ReckonedCommand {
  if (kind === "change") return { kind, plan: reckonedPlan(planId), when };
  return kind === "cancel" ? { kind, when: when ?? "now" } : { kind };
}

async function promote({ desk, nowMs }: Stage, account: AccountYear): Promise<void> {
  const { draw, id: accountId } = account;
  const id = `promotion-${account.book.lines.length}-${nowMs}`;
  const source = drawOne(draw, ["promotion", "adjustment"] as const);
  const ends = draw() < 0.8 ? nowMs + drawInteger(draw, 1, 40 * 24) * HOUR_MS : undefined;
  const amount = partOf(draw, parseUsd("12"));
  account.expect(id, { amount, source, ends });
  await mustDo(desk, { kind: "top_up", accountId, id, amount, source, expiresAtMs: ends });
}

async function correct({ desk, nowMs }: Stage, account: AccountYear): Promise<void> {
  const { draw, id: accountId, book } = account;
  const live = book.money.viewAt(nowMs).lots.filter(({ left }) => left > 0n);
  if (live.length === 0) return;
  const creditId = draw() < 0.6 ? drawOne(draw, live).id : undefined;
  const id = `correction-${book.lines.length}-${nowMs}`;
  const amount = partOf(draw, parseUsd("3"));
  const reason = "A slip of the keyboard";
  account.expect(id, { amount: -amount, creditId, reason });
  await mustDo(desk, { kind: "correct", accountId, id, amount, creditId, reason });
}

async function checkout({ desk, stripe, nowMs }: Stage, account: AccountYear): Promise<void> {
  const { draw, id: accountId } = account;
  const cents = drawInteger(draw, 500, 4_000);
  const { id } = await mustDo(desk, { kind: "checkout", accountId, amount: BigInt(cents) * 10_000_000n });
  // Some payers leave.
  if (draw() < 0.85) stripe.payCheckout(account, id ?? "", cents, nowMs);
}

async function reverseAtStripe({ stripe, nowMs }: Stage, account: AccountYear): Promise<void> {
  const { draw, payments } = account;
  if (payments.length === 0) return;
  const payment = drawOne(draw, payments);
  if (draw() < 0.6) stripe.refund(payment, nowMs);
  else stripe.dispute(account, payment, nowMs);
}

async function payIn({ desk, nowMs }: Stage, account: AccountYear): Promise<void> {
  const { draw, id: accountId, orders } = account;
  const id = `order-${accountId}-${orders.length}`;
  const source = drawOne(draw, ["purchase", "promotion"] as const);
  const ends = draw() < 0.3 ? nowMs + drawInteger(draw, 1, 60) * DAY_MS : undefined;
  const amount = partOf(draw, parseUsd("15"));
  orders.push({ id, left: amount });
  account.expect(`signed:shop:${id}`, { amount, source, ends });
  const call = { kind: "pay_in", caller: "shop", id, accountId, amount, source, expiresAtMs: ends } as const;
  await mustDo(desk, call);
  if (draw() < 0.3) await mustDo(desk, call);
}

async function takeBack({ desk }: Stage, account: AccountYear): Promise<void> {
  const { draw, orders, book } = account;
  const order = orders.length > 0 ? drawOne(draw, orders) : undefined;
  if (!order) return;
  const id = `back-${account.id}-${book.lines.length}`;
  const amount = draw() < 0.2 ? order.left + 1n : partOf(draw, order.left + 1n);
  const isTaken = amount <= order.left;
  const creditId = `signed:shop:${order.id}`;
  if (isTaken)
    account.expect(`reversal:shop:${id}`, { amount: -amount, creditId, reason: `Order ${order.id}` });
  const answer = await desk.act({ kind: "take_back", id, paymentId: order.id, amount });
  expect([id, !("declined" in answer)]).toEqual([id, isTaken]);
  if (isTaken) order.left -= amount;
}

async function makeCodes({ desk }: Stage, account: AccountYear): Promise<void> {
  const { draw, codes } = account;
  const amount = partOf(draw, parseUsd("4"));
  const days = draw() < 0.6 ? drawInteger(draw, 1, 30) : undefined;
  const id = `codes-${account.id}-${codes.length}-${account.book.lines.length}`;
  const answer = await mustDo(desk, { kind: "codes", id, amount, count: 2, creditDays: days });
  for (const { id: codeId, code } of answer.codes ?? []) codes.push({ id: codeId, text: code, amount, days });
}

async function redeem({ desk, nowMs }: Stage, account: AccountYear): Promise<void> {
  const code = account.codes.pop();
  if (!code) return;
  const { id, text, amount, days } = code;
  const ends = days === undefined ? undefined : nowMs + days * DAY_MS;
  account.expect(`code:${id}`, { amount, source: "promotion", ends });
  await mustDo(desk, { kind: "redeem", accountId: account.id, text });
  // A used code is unknown.
  if (account.draw() < 0.3)
    expect(await desk.act({ kind: "redeem", accountId: account.id, text })).toEqual({
      declined: "unknown_item",
    });
}

async function behave({ setBehaviour }: Stage, { draw, auto }: AccountYear): Promise<void> {
  if (auto) setBehaviour(auto.card, drawOne(draw, BEHAVIOURS));
}

async function setAuto({ desk }: Stage, account: AccountYear): Promise<void> {
  const { draw, auto, id: accountId } = account;
  if (!auto || auto.isOn) return;
  await setTerms(desk, accountId, auto, draw);
}

/** An owner switches the automatic top-up on. */
export async function setTerms(
  desk: Desk,
  accountId: string,
  auto: NonNullable<AccountYear["auto"]>,
  draw: RandomSource,
): Promise<void> {
  const terms = {
    below: partOf(draw, parseUsd("6")),
    amount: BigInt(drawInteger(draw, 500, 2_500)) * 10_000_000n,
    monthMax: parseUsd("90"),
  };
  await mustDo(desk, { kind: "auto_top_up", accountId, ...terms });
  auto.set(terms);
}

/** A part of an amount in nanos, from 1 up. */
function partOf(draw: RandomSource, amount: bigint): bigint {
  const part = (amount * BigInt(Math.floor(draw() * 1_000_000))) / 1_000_000n;
  return part > 0n ? part : 1n;
}

function capped(amount: bigint, most: bigint): bigint {
  return amount < most ? amount : most;
}
