/** A change of one file. */
interface Edit {
  /** Path from the root of the repository. */
  readonly file: string;
  /** A text that occurs in the file exactly once. */
  readonly from: string;
  readonly to: string;
}

/** A fault that is planted into the code as it is loaded. The simulation must find it. */
export interface PlantedCode {
  /** The wrong behaviour, as a sentence. */
  readonly breaks: string;
  readonly edits: readonly Edit[];
  /** Whether the test command looks for it: it is found within seconds. */
  readonly isQuick?: true;
}

const SETTLE = "src/gateway/settle.ts";
const HEARTBEATS = "src/gateway/heartbeats.ts";
const CHARGE = "src/gateway/charge.ts";
const CORE_SETTLE = "src/ledger/core/settle.ts";
const SPEND_CREDITS = "src/ledger/core/spend-credits.ts";
const POST = "src/ledger/core/post.ts";
const REPLAY = "src/settlement-outbox/replay.ts";
const WINDOW = "src/limiter/window.ts";
const KEY_TREE = "src/accounts/keys/key-tree.ts";

/** Every fault by its name. */
export const PLANTED_CODE: Readonly<Record<string, PlantedCode>> = {
  end_users_share_a_counter: {
    breaks: "all end users count together against a limit of each",
    edits: [
      {
        file: "src/ledger/core/spender.ts",
        from: "return subject === undefined ? limitId : limitId + SEPARATOR + subject;",
        to: "return limitId;",
      },
    ],
  },
  window_never_closes: {
    breaks: "each hold begins a window of its own, so that the limit never declines",
    edits: [
      {
        file: "src/ledger/core/window.ts",
        from: "if (latestMs !== undefined && nowMs < latestMs + lengthMs) return latestMs;",
        to: "",
      },
    ],
  },
  window_overlaps: {
    breaks: "after the clock was set back by more than a minute, a window begins beside one that began later",
    edits: [
      {
        file: "src/ledger/core/window.ts",
        from: "nextMs < nowMs + lengthMs ? nextMs",
        to: "nextMs <= nowMs + 60_000 ? nextMs",
      },
    ],
  },
  end_user_not_held: {
    breaks: "a hold does not count for the end user that its request names",
    edits: [
      {
        file: "src/gateway/scopes.ts",
        from: 'return { kind: "end_user", id };',
        to: 'return { kind: "end_user", id: id.slice(1) };',
      },
    ],
  },
  child_not_counted_above: {
    breaks: "a hold of a key does not count against the limits of the keys above it",
    edits: [
      {
        file: "src/ledger/core/spender.ts",
        from: 'return kind === "parent_key" ? id : kind + SEPARATOR + id;',
        to: "return kind + SEPARATOR + id;",
      },
    ],
  },
  child_outlives_parent: {
    breaks: "the keys below a revoked key stay in force",
    edits: [
      {
        file: KEY_TREE,
        from: "return changeBelow(database, tx, isBelow(database, keyId), { revokedAtMs });",
        to: "return revokedAtMs < 0 ? changeBelow(database, tx, isBelow(database, keyId), {}) : 0;",
      },
      {
        file: KEY_TREE,
        from: ".map((each) => (each ? each.revokedAtMs",
        to: ".map((each) => (each === key ? key.revokedAtMs : each ? undefined",
      },
      {
        file: "src/accounts/keys/ended-keys.ts",
        from: "for (const { id } of living) above.delete(id);",
        to: "above.clear();",
      },
    ],
  },
  project_not_counted: {
    breaks: "a hold does not count against the limits of its project",
    edits: [
      {
        file: "src/ledger/core/spender.ts",
        from: "    bindings.push(bindingOfScope(scope));",
        to: '    if (scope.kind !== "project") bindings.push(bindingOfScope(scope));',
      },
    ],
  },
  archived_project_takes_keys: {
    breaks: "an archived project takes new keys",
    edits: [
      {
        file: "src/accounts/projects.ts",
        from: 'if (row.archivedAtMs !== null) throw new GatewayError("conflict");',
        to: "",
      },
    ],
  },
  settlement_sent_twice: {
    breaks: "a settlement is sent twice, and the ledger charges both",
    isQuick: true,
    edits: [
      {
        file: SETTLE,
        from: "submitted, ledgerTooLate",
        to: "submitted.then(() => submitEntry(ledger, entry)), ledgerTooLate",
      },
      { file: CORE_SETTLE, from: 'if (hold.state === "settled") {', to: "if (false) {" },
      {
        file: "src/ledger/core/resolve.ts",
        from: "const booked = transition.captured - hold.captured;",
        to: "const booked = transition.captured;",
      },
      {
        file: "src/ledger/core/resolve.ts",
        from: "transferId = holdId, nowMs }",
        to: "transferId = holdId + wallet.lastSeq, nowMs }",
      },
    ],
  },
  lease_not_renewed: {
    breaks: "the hold of a running request is not extended",
    edits: [
      { file: HEARTBEATS, from: "await Promise.all([...live].map(beat))", to: "await Promise.all([])" },
    ],
  },
  receipt_before_transfer: {
    breaks: "a receipt is written in one transaction, and its transfer later in another",
    edits: [
      {
        file: "src/ledger/sqlite/write.ts",
        from: 'import type { Database } from "bun:sqlite";',
        to: 'import type { Database } from "bun:sqlite"; import { platform } from "../../platform.ts";',
      },
      {
        file: "src/ledger/sqlite/write.ts",
        from: "        statements.insertTransfer.run(transferValues(walletId, transfer));",
        to: `        platform.setTimeout(() => {
          try {
            statements.insertTransfer.run(transferValues(walletId, transfer));
          } catch {}
        }, 5);`,
      },
    ],
  },
  entry_deleted_early: {
    breaks: "an entry leaves the settlement outbox although the ledger was away",
    edits: [
      {
        file: REPLAY,
        from: 'isRetryable(fault)) return { kind: "retry", seq, fault };',
        to: 'isRetryable(fault)) return { kind: "completed", seq };',
      },
    ],
  },
  entry_skipped: {
    breaks: "a replay skips the first entry of a file",
    edits: [{ file: REPLAY, from: "file.read(position, max)", to: "file.read(position + 1, max)" }],
  },
  outbox_not_adopted: {
    breaks: "the outbox of a dead gateway is not replayed",
    edits: [{ file: REPLAY, from: "        files.adopt();\n", to: "" }],
  },
  entry_not_synced: {
    breaks: "an entry of the settlement outbox is not synced",
    edits: [{ file: "src/settlement-outbox/file.ts", from: "      await log.sync();\n", to: "" }],
  },
  settled_before_disk: {
    breaks: "a settlement is reported before it is synced",
    edits: [
      {
        file: "src/ledger/engine/batch.ts",
        from: "if (sync && (command.awaitsDisk || hasDiskFailed)) synced.push(decided);",
        to: "if (sync && hasDiskFailed) synced.push(decided);",
      },
    ],
  },
  expiry_without_accrued: {
    breaks: "an expiry charges nothing of what the heartbeats had reported",
    edits: [
      {
        file: CORE_SETTLE,
        from: "const captured = hold.accrued < most ? hold.accrued : most;",
        to: "const captured = 0n;",
      },
    ],
  },
  heartbeat_without_cost: {
    breaks: "a heartbeat reports no cost",
    edits: [{ file: HEARTBEATS, from: "accrued: meter.accrued(), ttlMs", to: "accrued: 0n, ttlMs" }],
  },
  late_settlement_dropped: {
    breaks: "a settlement after the expiry of its hold is not charged",
    edits: [
      {
        file: CORE_SETTLE,
        from: "const captured = isLate && hold.captured > amount ? hold.captured : amount;",
        to: "const captured = isLate ? hold.captured : amount;",
      },
    ],
  },
  estimate_released: {
    breaks: "a request is released instead of settled when its charge was estimated",
    edits: [{ file: SETTLE, from: 'charge.source === "none"\n', to: 'charge.source !== "reported"\n' }],
  },
  broken_not_charged: {
    breaks: "an answer that breaks off after its first output costs nothing",
    edits: [
      {
        file: CHARGE,
        from: 'return meter.isCommitted ? estimate(metered, tokens, "broken") : NOTHING;',
        to: "return NOTHING;",
      },
    ],
  },
  left_not_charged: {
    breaks: "an answer whose client leaves after its first output costs nothing",
    edits: [
      {
        file: CHARGE,
        from: 'return outcome.isSent && isCharged ? estimate(metered, tokens, "left") : NOTHING;',
        to: "return NOTHING;",
      },
    ],
  },
  refund_repeated: {
    breaks: "a refund that is sent again is booked again",
    edits: [
      {
        file: POST,
        from: "if (stored) return replay(wallet, stored.amount === amount && stored.holdId === holdId);",
        to: "",
      },
      { file: POST, from: "transferId: refundId,", to: "transferId: refundId + book.wallet.lastSeq," },
    ],
  },
  top_up_repeated: {
    breaks: "a top-up that is sent again is booked again",
    edits: [
      {
        file: POST,
        from: "if (stored) return replay(wallet, isSameTopUp",
        to: "if (stored && false) return replay(wallet, isSameTopUp",
      },
      {
        file: POST,
        from: "transferId: topUpId,",
        to: "transferId: topUpId + book.wallet.lastSeq,",
      },
    ],
  },
  hold_above_headroom: {
    breaks: "a hold grants what was asked for, whatever the wallet has",
    edits: [
      {
        file: "src/ledger/core/hold.ts",
        from: "headroom.least < request.amount ? headroom.least : request.amount",
        to: "request.amount",
      },
    ],
  },
  callers_not_watched: {
    breaks: "a running request goes on after its key was revoked",
    edits: [
      {
        file: "src/gateway/caller-watch.ts",
        from: "for (const caller of callers.get(keyId) ?? []) caller.end(why);",
        to: "if (why === undefined) callers.get(keyId);",
      },
    ],
  },
  end_not_looked_at: {
    breaks: "a hold does not look at the ends of credits, as before a sweep",
    edits: [
      {
        file: "src/ledger/core/decide.ts",
        from: 'command.kind === "expire_credits" ? undefined',
        to: 'command.kind === "expire_credits" || command.kind === "hold" ? undefined',
      },
    ],
  },
  claim_not_taken_off: {
    breaks: "what a hold leaves of an ended credit stays",
    edits: [{ file: SPEND_CREDITS, from: "if (claim) draft.dropClaims(claim);", to: "" }],
  },
  refund_to_ended_credit: {
    breaks: "a refund goes to a credit that has ended",
    edits: [
      {
        file: "src/ledger/core/grant-credits.ts",
        from: "if (credit) return hasEnded(credit, nowMs) ? undefined : credit;",
        to: "if (credit) return credit;",
      },
    ],
  },
  end_booked_twice: {
    breaks:
      "the end of a credit is booked twice while a hold claims it, the second time with the holds from after it",
    edits: [
      { file: SPEND_CREDITS, from: "return claimed === undefined && expiresAtMs", to: "return expiresAtMs" },
    ],
  },
  credit_spent_twice: {
    breaks: "of two credits, a charge takes its whole amount of both",
    isQuick: true,
    edits: [{ file: SPEND_CREDITS, from: "    rest -= taken;\n", to: "" }],
  },
  last_end_first: {
    breaks: "the credit that ends last is spent first",
    isQuick: true,
    edits: [
      {
        file: "src/ledger/core/credits.ts",
        from: "if (end !== otherEnd) return end < otherEnd ? -1 : 1;",
        to: "if (end !== otherEnd) return end > otherEnd ? -1 : 1;",
      },
    ],
  },
  claim_of_later_hold: {
    breaks: "a hold that came after the end of a credit spends of it",
    edits: [{ file: SPEND_CREDITS, from: "claim && claims(claim, credit) ?", to: "claim ?" }],
  },
  debt_not_paid: {
    breaks: "a credit does not pay what its wallet owes",
    edits: [
      {
        file: "src/ledger/core/grant-credits.ts",
        from: "granted.amount > debt ? granted.amount - debt : 0n",
        to: "granted.amount",
      },
    ],
  },
  newest_not_kept: {
    breaks: "when a second credit comes, what was left of the first one is not written down",
    edits: [
      {
        file: "src/ledger/core/grant-credits.ts",
        from: "const newest = wallet.isMixed ? undefined : credits.get(wallet.newestCredit);",
        to: "const newest = wallet.newestCredit < 0 ? credits.get(0) : undefined;",
      },
    ],
  },
  ends_not_shown: {
    breaks: "balances show credits as available that have ended and are not swept",
    edits: [
      {
        file: "src/ledger/queries/wallets.ts",
        from: "available: booked.available - endedOf(row, held)",
        to: "available: booked.available + 0n * endedOf(row, held)",
      },
    ],
  },
  stale_hour_forgotten: {
    breaks: "a late settlement does not make its hour stale for the roll-ups",
    edits: [
      {
        file: "src/ledger/engine/store.ts",
        from: 'if (holdId < fenceId && state !== "held") hours.add(hourOf(holdId));',
        to: 'if (holdId > fenceId && state !== "held") hours.add(hourOf(holdId));',
      },
    ],
  },
  failed_batch_taken: {
    breaks: "an export moves its cursor past a batch that its receiver has not taken",
    edits: [
      {
        file: "src/exports/run-export.ts",
        from: "await sink.deliver(batch, this.#signal)",
        to: "await sink.deliver(batch, this.#signal).catch(() => 0)",
      },
    ],
  },
  slot_kept_after_leaving: {
    breaks: "the slot of a client that leaves is not given back",
    edits: [
      {
        file: SETTLE,
        from: "const released = slot.settle(usedTokensOf(held, charge));",
        to: 'const released = answer.outcome.kind === "client_disconnected" ? undefined : slot.settle(usedTokensOf(held, charge));',
      },
      { file: "src/gateway/run-request.ts", from: "await using slot", to: "const slot" },
    ],
  },
  admission_not_cancelled: {
    breaks: "a request whose hold was declined counts in the minute",
    edits: [{ file: "src/gateway/admit.ts", from: "await slot.cancel();", to: "await slot.settle(0);" }],
  },
  window_forgets_early: {
    breaks: "a window forgets a request a second too early",
    edits: [
      {
        file: WINDOW,
        from: "nowMs < at(window.slotLastMs, slot) + WINDOW_MS) return;",
        to: "nowMs < at(window.slotLastMs, slot) + WINDOW_MS - 1000) return;",
      },
    ],
  },
  window_wrong_second: {
    breaks: "a window counts tokens that were not used half a minute after the request",
    edits: [
      {
        file: WINDOW,
        from: "  if (second < window.oldest) return;\n  const slot = second % SLOTS;",
        to: "  if (second < window.oldest) return;\n  const slot = (second + 30) % SLOTS;",
      },
    ],
  },
  period_granted_twice: {
    breaks: "the credit of a period is booked under two ids",
    isQuick: true,
    edits: [
      {
        file: "src/plans/booking.ts",
        from: "if (grant.amount > 0n) await topUp(parts, grant);",
        to: "if (grant.amount > 0n) for (const end of ['', '-']) await topUp(parts, { ...grant, id: grant.id + end });",
      },
    ],
  },
  period_skipped: {
    breaks: "a period that begins a minute late takes the place of the one after it",
    edits: [
      {
        file: "src/plans/decide.ts",
        from: "nextPeriod: period + 1,",
        to: "nextPeriod: decidedAtMs - startsAtMs > 60_000 ? period + 2 : period + 1,",
      },
    ],
  },
};
