/** A mistake that somebody could make in a rule: one line of one file, changed. */
export interface Fault {
  /** In `src/ledger`. */
  readonly file: string;
  readonly says: string;
  /** Stands in the file exactly once. */
  readonly from: string;
  readonly to: string;
}

type Change = readonly [says: string, from: string, to: string];

/** What the rules must not be without somebody noticing, by file. */
const CHANGES: Readonly<Record<string, readonly Change[]>> = {
  "core/hold.ts": [
    [
      "a hold of all that is left is refused",
      "room.least >= request.minimum",
      "room.least > request.minimum",
    ],
    [
      "an exact fit after an expiry is refused",
      "roomAfter.least < request.minimum",
      "roomAfter.least <= request.minimum",
    ],
    [
      "a hold grants more than there is",
      "at.room.least < request.amount ?",
      "at.room.least > request.amount ?",
    ],
    ["a grant is measured before due holds made room", "room: roomAfter", "room"],
    [
      "what an expiry did for a hold is forgotten",
      "join(expired.changes, granted.changes)",
      "granted.changes",
    ],
    [
      "due holds are not expired for a hold",
      "expireDue(book, money, nowMs)",
      "expireDue({ ...book, dueHoldIds: [] }, money, nowMs)",
    ],
    ["a hold given twice is taken twice", "if (stored) {", 'if (stored && stored.state !== "held") {'],
    [
      "a hold with other parameters is a replay",
      'if (!isSame(stored, request, metadata)) return refuse("conflict");',
      "",
    ],
    ["a hold with another minimum is a replay", "stored.minimum === request.minimum &&", ""],
    ["a hold of another key is a replay", "stored.keyId === request.keyId &&", ""],
    ["a hold with another life is a replay", "stored.ttlMs === request.ttlMs &&", ""],
    ["a hold for another model is a replay", "stored.facts.model === request.facts.model &&", ""],
    ["a hold with other metadata is a replay", "isSameMetadata(stored.metadata, metadata)", "true"],
    ["a hold of any day is taken", 'if (!isFresh(request.holdId, nowMs)) return refuse("invalid_id");', ""],
    ["a frozen wallet takes holds", 'if (wallet.state === "frozen") return refuse("wallet_frozen");', ""],
    ["a minimum above the amount is taken", "request.minimum > request.amount ||", ""],
    ["a hold holds nothing of the wallet", "held: money.wallet.held + granted", "held: money.wallet.held"],
    ["a hold holds nothing of its limits", "held: counter.held + granted", "held: counter.held"],
    ["a hold is due at once", "expiresAtMs: at.nowMs + request.ttlMs", "expiresAtMs: at.nowMs"],
  ],
  "core/room.ts": [
    [
      "a limit of the whole wallet binds nobody",
      "limit.keyId !== undefined && limit.keyId !== keyId",
      "limit.keyId !== keyId",
    ],
    ["a deleted limit still binds", "if (limit.deletedAtMs !== undefined) continue;", ""],
    [
      "a limit forgets its zone",
      "periodStart(limit.period, nowMs, limit.timeZone)",
      "periodStart(limit.period, nowMs)",
    ],
    ["a limit does not count what is held", "left: unheld - heldByLimit", "left: unheld"],
    [
      "a limit does not count what was spent",
      "const unheld = limit.amount - used",
      "const unheld = limit.amount",
    ],
    ["the widest limit binds", "one.left < other.left ?", "one.left > other.left ?"],
    [
      "the widest limit is the one without holds",
      "one.unheld < other.unheld ?",
      "one.unheld > other.unheld ?",
    ],
    ["limits widen a wallet", "ofLimits.left < available ?", "ofLimits.left > available ?"],
    ["the wallet is blamed before a limit", "ofLimits.left < minimum", "ofLimits.left < 0n"],
    [
      "an exact fit but for what is held is called poverty",
      "ofWallet.unheld >= minimum",
      "ofWallet.unheld > minimum",
    ],
    [
      "a limit's shortfall is the wallet's",
      "shortfallOf(ofLimits, minimum)",
      "shortfallOf(ofWallet, minimum)",
    ],
    ["an overdrawn wallet has less than nothing left", "left > 0n ? left : 0n", "left"],
    ["an overdrawn wallet has less than nothing without holds", "unheld > 0n ? unheld : 0n", "unheld"],
  ],
  "core/settle.ts": [
    [
      "a late settlement gives back what an expiry captured",
      "hold.captured > amount ?",
      "hold.captured < amount ?",
    ],
    [
      "a late settlement is booked as an ordinary one",
      "isLate ? TRANSFER_KINDS.lateSettlement",
      "isLate ? TRANSFER_KINDS.settlement",
    ],
    ["a released hold is settled", 'if (hold.state === "released") return refuse("hold_released");', ""],
    ["a settlement with another amount is a replay", "hold.actual === amount ?", "true ?"],
    ["a late settlement's replay is a conflict", "hold.actual === amount ?", "hold.captured === amount ?"],
    [
      "a settlement may leave the range",
      'if (captured - hold.captured > bookable(money, hold.limits)) return refuse("balance_overflow");',
      "",
    ],
    [
      "a settlement to the very end of the range is refused",
      "captured - hold.captured > bookable",
      "captured - hold.captured >= bookable",
    ],
    ["a settled hold is released", 'if (hold.state === "settled") return refuse("hold_settled");', ""],
    [
      "a release takes back what an expiry captured",
      'if (hold.state !== "held") return replay',
      'if (hold.state === "released") return replay',
    ],
    ["a release keeps what was accrued", "captured: 0n, kind", "captured: hold.accrued, kind"],
    [
      "a hold lives a millisecond longer than it may",
      "hold.expiresAtMs <= nowMs",
      "hold.expiresAtMs < nowMs",
    ],
    [
      "a hold of a wrong hour waits for that hour",
      "if (!isAhead(hold, nowMs)) return unchanged;",
      "return unchanged;",
    ],
    ["a hold of a wrong hour ends at once", "expiresAtMs: nowMs + hold.ttlMs }]", "expiresAtMs: nowMs }]"],
    [
      "clocks may not be apart at all",
      "hold.createdAtMs > nowMs + CLOCKS_APART_MS",
      "hold.createdAtMs > nowMs",
    ],
    ["a hold of a wrong hour gets its time again and again", "hold.expiresAtMs > nowMs + hold.ttlMs", "true"],
    [
      "what is over gets its time again",
      'hold.state === "held" &&\n    hold.createdAtMs',
      "hold.createdAtMs",
    ],
    ["what is over expires", 'hold.state === "held" && hold.expiresAtMs', "hold.expiresAtMs"],
    ["an expiry captures the whole hold", "hold.accrued < most ? hold.accrued : most", "hold.granted"],
    ["an expiry leaves the range", "hold.accrued < most ? hold.accrued : most", "hold.accrued"],
    [
      "an expiry is booked as a settlement",
      "const kind = TRANSFER_KINDS.expiryCapture",
      "const kind = TRANSFER_KINDS.settlement",
    ],
    [
      "what a settlement adds is lost",
      'const ending = { facts, metadata };\n    return resolve(money, hold, { state: "settled"',
      'const ending = { facts, metadata: undefined };\n    return resolve(money, hold, { state: "settled"',
    ],
  ],
  "core/resolve.ts": [
    [
      "a late settlement books everything again",
      "resolution.captured - hold.captured",
      "resolution.captured",
    ],
    ["a hold is freed twice", 'hold.state === "held" ? hold.granted : 0n', "hold.granted"],
    ["a limit does not count a cost", "used: counter.used + booked", "used: counter.used"],
    ["a limit holds on to what is over", "held: counter.held - freed", "held: counter.held"],
    [
      "a late settlement looks like any other",
      'late: hold.late || hold.state === "expired"',
      "late: hold.late",
    ],
    ["a cost of nothing moves nothing from here to there", "booked > 0n ?", "booked >= 0n ?"],
    ["two transfers share a number", "seq: moved.lastSeq + 1", "seq: moved.lastSeq"],
    ["the wallet loses count of its transfers", "lastSeq: lastSeq + transfers.length", "lastSeq"],
    ["a capture goes the wrong way", "debitAccount: ACCOUNTS.wallet", "debitAccount: ACCOUNTS.funding"],
    [
      "the widest sum bounds what can be booked",
      "if (left < most) most = left;",
      "if (left > most) most = left;",
    ],
  ],
  "core/expire-due.ts": [
    [
      "each of several expiries starts from the first balance",
      "resolveHold(after, due, expiryOf(after, due, nowMs))",
      "resolveHold(money, due, expiryOf(money, due, nowMs))",
    ],
    [
      "the counters of the first expiry are forgotten",
      "counters: [...(first.counters ?? []), ...(second.counters ?? [])]",
      "counters: second.counters ?? []",
    ],
  ],
  "core/charge.ts": [
    [
      "a charge counts against no limit",
      "limits: limitsOf(book, request.keyId, nowMs).map(({ key }) => key)",
      "limits: []",
    ],
    ["a charge is booked as a settlement", "kind: TRANSFER_KINDS.charge", "kind: TRANSFER_KINDS.settlement"],
    ["a charge is named after its receipt", "transferId: request.chargeId,", ""],
    ["a charge given twice is booked twice", "if (replayed) return replayed;", ""],
    ["a charge of another amount is a replay", "stored.amount === amount && (", "("],
    ["a charge of another key is a replay", "receipt.keyId === keyId", "true"],
    ["a charge without its receipt conflicts", "receipt === undefined ||", ""],
    ["a charge of nothing is taken", "!isAmount(amount) || amount === 0n", "!isAmount(amount)"],
    [
      "a charge may leave the range",
      'if (request.amount > bookable(money, receipt.limits)) return refuse("balance_overflow");',
      "",
    ],
    [
      "a replayed charge names a receipt that is not there",
      "receiptId: stored.holdId }",
      "receiptId: chargeId }",
    ],
  ],
  "core/post.ts": [
    [
      "a refund of all that is left is refused",
      "amount > hold.captured - hold.refunded",
      "amount >= hold.captured - hold.refunded",
    ],
    ["refunds do not add up", "refunded: hold.refunded + amount", "refunded: amount"],
    ["a refund makes no room under a limit", "used: counter.used - amount", "used: counter.used"],
    [
      "a refund of another hold is a replay",
      "stored.amount === amount && stored.holdId === holdId",
      "stored.amount === amount",
    ],
    [
      "a refund of another amount is a replay",
      "stored.amount === amount && stored.holdId === holdId",
      "stored.holdId === holdId",
    ],
    ["a top-up of another amount is a replay", "stored.amount === request.amount", "true"],
    ["a top-up is a refund", "kind: TRANSFER_KINDS.topUp", "kind: TRANSFER_KINDS.refund"],
    ["a top-up may leave the range", 'if (!isKeepable(posted)) return refuse("balance_overflow");', ""],
  ],
  "core/extend.ts": [
    [
      "a heartbeat lowers what was accrued",
      "request.accrued > hold.accrued ?",
      "request.accrued < hold.accrued ?",
    ],
    ["a heartbeat shortens a life", "Math.max(", "Math.min("],
    ["a heartbeat reopens what is over", 'if (hold.state !== "held")', 'if (hold.state === "settled")'],
  ],
  "core/spend-limit.ts": [
    ["a limit moves to another key", 'if (stored && stored.keyId !== keyId) return refuse("conflict");', ""],
    ["a limit keeps its old zone", "stored.timeZone === limit.timeZone &&", ""],
    ["a deleted limit does not come back", "stored.deletedAtMs === undefined &&", ""],
    [
      "a zone that no calendar knows is taken",
      'if (timeZone !== undefined && !isTimeZone(timeZone)) return refuse("invalid_time_zone");',
      "",
    ],
    ["a limit is not deleted", "{ ...stored, deletedAtMs: nowMs }", "stored"],
  ],
  "core/wallet.ts": [
    [
      "a wallet is created over one that is there",
      "if (book.wallet) return { answer: balancesOf(book.wallet) };",
      "",
    ],
    ["a wallet does not freeze", "{ ...wallet, state }", "wallet"],
  ],
  "core/check.ts": [
    [
      "an id of a day ago is too old",
      "Math.abs(madeAtMs - nowMs) <= DAY_MS",
      "Math.abs(madeAtMs - nowMs) < DAY_MS",
    ],
    ["an id from the future is taken", "Math.abs(madeAtMs - nowMs)", "nowMs - madeAtMs"],
    ["an amount of nothing is none", "amount >= 0n &&", "amount > 0n &&"],
    ["the largest amount is too large", "amount <= NANOS_MAX", "amount < NANOS_MAX"],
    ["any UUID names a hold", "-7[0-9a-f]{3}-", "-[0-9a-f]{4}-"],
  ],
  "core/metadata.ts": [
    ["metadata may be a byte longer", "BYTES_MAX = 4096", "BYTES_MAX = 4097"],
    ["metadata is measured in characters", "Buffer.byteLength(printed)", "printed.length"],
    ["metadata may go a step deeper", "DEPTH_MAX = 30", "DEPTH_MAX = 31"],
    [
      "names in another order are other metadata",
      "Bun.deepEquals(JSON.parse(one), JSON.parse(other), true)",
      "false",
    ],
    [
      "metadata of one length is the same",
      "Bun.deepEquals(JSON.parse(one), JSON.parse(other), true)",
      "true",
    ],
    ["a list is metadata", 'startsWith("{")', "length"],
    ["brackets in texts are steps", '.replaceAll(/"(?:[^"\\\\]|\\\\.)*"/g, "")', ""],
  ],
  "core/facts.ts": [
    ["negative tokens are kept", "&& count >= 0", ""],
    ["nobody looks at attempts", "kept.every(isAttempt)", "true"],
  ],
  "core/period.ts": [
    ["weeks start on Sunday", "date.dayOfWeek - 1", "date.dayOfWeek % WEEK_DAYS"],
    ["weeks start on Sunday in UTC", "DAYS_SINCE_MONDAY_AT_EPOCH = 3", "DAYS_SINCE_MONDAY_AT_EPOCH = 4"],
    ["months start on the second", "date.day - 1", "date.day - 2"],
    ["the last period is known for too long", "atMs < last.endMs", "atMs <= last.endMs"],
    ["zones share what is known", "known.get(name)", "known.values().next().value"],
    [
      "an evening that comes again belongs to nothing",
      "while (startOf(first.add(length)) <= atMs) first = first.add(length);",
      "",
    ],
    ["an offset is a zone", "if (!/^[A-Za-z]/.test(name)) return false;", ""],
  ],
};

export const FAULTS: readonly Fault[] = Object.entries(CHANGES).flatMap(([file, changes]) =>
  changes.map(([says, from, to]) => ({ file, says, from, to })),
);
