// One table of more than 300 lines on purpose: `bun run mutate` applies its rows one by one.
/** A mutation of a rule: one line of one file, changed. The tests of the rules must fail on it. */
export interface Fault {
  /** Path from `src/ledger`. */
  readonly file: string;
  /** The wrong behaviour, as a sentence. */
  readonly name: string;
  /** A text that occurs in the file exactly once. */
  readonly from: string;
  readonly to: string;
}

type Change = readonly [name: string, from: string, to: string];

/** The mutations by file. */
const CHANGES: Readonly<Record<string, readonly Change[]>> = {
  "core/hold.ts": [
    [
      "a hold of the whole headroom is declined",
      "headroom.least >= request.minimum",
      "headroom.least > request.minimum",
    ],
    [
      "an exact fit after an expiry is declined",
      "headroomAfter.least < request.minimum",
      "headroomAfter.least <= request.minimum",
    ],
    [
      "a hold grants more than the headroom",
      "headroom.least < request.amount ?",
      "headroom.least > request.amount ?",
    ],
    ["a grant uses the headroom from before the due holds expired", "headroom: headroomAfter", "headroom"],
    [
      "the expiries that a hold needed are not stored",
      "mergeChanges(expired.changes, granted.changes)",
      "granted.changes",
    ],
    [
      "due holds are not expired for a hold",
      "expireDue(book, money, nowMs)",
      "expireDue({ ...book, dueHoldIds: [] }, money, nowMs)",
    ],
    ["a repeated hold is taken twice", "if (stored) {", 'if (stored && stored.state !== "held") {'],
    [
      "a hold with other parameters is a replay",
      'if (!isSame(stored, request, metadata)) return decline("conflict");',
      "",
    ],
    ["a hold with another minimum is a replay", "stored.minimum === request.minimum &&", ""],
    ["a hold of another key is a replay", "stored.keyId === request.keyId &&", ""],
    [
      "a hold of other scopes is a replay",
      "printScopes(stored.scopes) === printScopes(request.scopes) &&",
      "",
    ],
    [
      "a hold may have invalid scopes",
      'if (request.scopes && !areScopes(request.scopes)) return "invalid_scope";',
      "",
    ],
    ["a hold does not keep its scopes", "scopes: request.scopes ?? NO_SCOPES", "scopes: NO_SCOPES"],
    ["a hold with another time to live is a replay", "stored.ttlMs === request.ttlMs &&", ""],
    ["a hold for another model is a replay", "stored.facts.model === request.facts.model &&", ""],
    ["a hold with other metadata is a replay", "isSameMetadata(stored.metadata, metadata)", "true"],
    [
      "a hold with an old id is taken",
      'if (!isFresh(request.holdId, nowMs)) return decline("invalid_id");',
      "",
    ],
    ["a frozen wallet takes holds", 'if (wallet.state === "frozen") return decline("wallet_frozen");', ""],
    ["a minimum above the amount is taken", "request.minimum > request.amount ||", ""],
    ["a hold holds nothing of the wallet", "held: money.wallet.held + granted", "held: money.wallet.held"],
    ["a hold holds nothing of its limits", "reserved: granted", "reserved: 0n"],
    ["a hold is due at once", "expiresAtMs: nowMs + request.ttlMs", "expiresAtMs: nowMs"],
    [
      "a heartbeat lowers the accrued amount",
      "request.accrued > hold.accrued ?",
      "request.accrued < hold.accrued ?",
    ],
    ["a heartbeat shortens a hold's life", "Math.max(", "Math.min("],
    ["a heartbeat extends a resolved hold", 'if (hold.state !== "held")', 'if (hold.state === "settled")'],
  ],
  "core/working-book.ts": [
    ["a limit set in the batch does not bind", "this.#inForce.forget();", ""],
    [
      "an older hold takes a window back",
      "if (isNew && this.windowStarts.size > 0)",
      "if (this.windowStarts.size > 0)",
    ],
  ],
  "core/headroom.ts": [
    ["a limit of the whole wallet binds no hold", "[...(byBinding.get(undefined) ?? NONE)]", "[...NONE]"],
    [
      "a limit binds every hold",
      "of bindingsOf({ keyId, scopes: scopes.filter(this.#mayBind) })",
      "of [...byBinding.keys()].filter((each) => each !== undefined)",
    ],
    ["a limit binds a hold twice", "found.filter((limit, i) => limit !== found[i - 1])", "found"],
    [
      "a deleted limit still binds",
      "[...this.#limits.values()].filter(({ deletedAtMs }) => deletedAtMs === undefined)",
      "[...this.#limits.values()]",
    ],
    ["a limit set in the batch does not bind a hold without scopes", "this.#ofKeys.clear();", ""],
    ["scopes do not matter once a key was seen", "const known = hasScopes ?", "const known = !spender ?"],
    ["a limit of a key above does not bind", 'kind === "parent_key" || ', ""],
    ["a limit of a scope does not bind", " || this.#kinds.has(kind)", ""],
    ["a limit ignores its time zone", "periodStart(period, nowMs, timeZone)", "periodStart(period, nowMs)"],
    ["a limit does not count holds", "const left = unheld - heldByLimit", "const left = unheld"],
    [
      "a limit does not count spending",
      "const unheld = each.limit.amount - used",
      "const unheld = each.limit.amount",
    ],
    ["the widest limit binds", "left < limits.left ||", "left > limits.left ||"],
    ["the widest limit binds without holds", "limits.unheld < unheld ?", "limits.unheld > unheld ?"],
    [
      "a template counts all its subjects together",
      "subjectsOf(limit, spender)",
      "(limit.each === undefined || subjectsOf(limit, spender).length === 0 ? [undefined] : [limit.each])",
    ],
    [
      "a template binds a hold without its kind",
      "subjectsOf(limit, spender)",
      "(subjectsOf(limit, spender).length === 0 ? [undefined] : subjectsOf(limit, spender))",
    ],
    [
      "a template counts one subject of several",
      "subjectsOf(limit, spender)",
      "subjectsOf(limit, spender).slice(0, 1)",
    ],
    [
      "a window ends a millisecond late",
      "nowMs < startMs + windowMs(period)",
      "nowMs <= startMs + windowMs(period)",
    ],
    ["a window never goes on", "nowMs < startMs + windowMs(period) ? startMs : nowMs", "nowMs"],
    [
      "a window does not go on when the clock goes back a little",
      "startMs > nowMs + CLOCK_SKEW_MAX_MS",
      "startMs > nowMs",
    ],
    [
      "of equally tight limits the last one is named",
      "one.key.counterId < other.key.counterId",
      "one.key.counterId > other.key.counterId",
    ],
    ["equally tight limits are named in the order of binding", "isBefore(each, limits.tightest)", "false"],
    ["a decline by a template names no subject", "each !== undefined && subject !== undefined", "!limitId"],
    [
      "a decline by a key's limit names no scope",
      'keyId === undefined ? scope : { kind: "key", id: keyId }',
      "scope",
    ],
    [
      "a limit above the balance grants more than the balance",
      "limits.left < available ?",
      "limits.left > available ?",
    ],
    ["a decline names the wallet before a limit", "limits.left < minimum", "limits.left < 0n"],
    [
      "an exact fit without the open holds is insufficient_balance",
      "wallet.unheld >= minimum",
      "wallet.unheld > minimum",
    ],
    ["a limit's shortfall is the wallet's", "shortfallOf(limits, minimum)", "shortfallOf(wallet, minimum)"],
    ["a shortfall reports a negative remainder", "left > 0n ? left : 0n", "left"],
    ["a shortfall reports a negative remainder without holds", "unheld > 0n ? unheld : 0n", "unheld"],
  ],
  "core/settle.ts": [
    ["a lost hold of any age is booked", "captured === 0n && isFresh(holdId, nowMs)", "captured === 0n"],
    ["a hold that is gone was never charged", "if (!isRepeated(captured))", "if (captured < 0n)"],
    ["a lost hold counts against no limit", "limitsOf(book, taken, nowMs).map(({ key }) => key)", "[]"],
    [
      "a lost hold counts for its key alone",
      "limitsOf(book, taken, nowMs)",
      "limitsOf(book, { keyId }, nowMs)",
    ],
    ["a lost hold frees money", 'state: "expired",\n    late: false', 'state: "held",\n    late: false'],
    ["a hold expires a millisecond late", "hold.expiresAtMs <= nowMs", "hold.expiresAtMs < nowMs"],
    [
      "a hold of a clock that ran ahead keeps its expiry time",
      "if (!isAhead(hold, nowMs)) return unchanged;",
      "return unchanged;",
    ],
    [
      "a hold of a clock that ran ahead expires at once",
      "expiresAtMs: nowMs + hold.ttlMs }]",
      "expiresAtMs: nowMs }]",
    ],
    [
      "no clock skew is tolerated",
      "hold.createdAtMs > nowMs + CLOCK_SKEW_MAX_MS",
      "hold.createdAtMs > nowMs",
    ],
    [
      "a hold of a clock that ran ahead is extended by every sweep",
      "hold.expiresAtMs > nowMs + hold.ttlMs",
      "true",
    ],
    [
      "a resolved hold of a clock that ran ahead is extended",
      'hold.state === "held" &&\n    hold.createdAtMs',
      "hold.createdAtMs",
    ],
    ["a resolved hold expires", 'hold.state === "held" && hold.expiresAtMs', "hold.expiresAtMs"],
    ["an expiry captures the whole hold", "hold.accrued < most ? hold.accrued : most", "hold.granted"],
    ["an expiry may overflow the balance", "hold.accrued < most ? hold.accrued : most", "hold.accrued"],
    [
      "an expiry is booked as a settlement",
      "const kind = TRANSFER_KINDS.expiryCapture",
      "const kind = TRANSFER_KINDS.settlement",
    ],
    [
      "each of several expiries starts from the first balance",
      "resolveHold(after, due, expiryOf(after, due, nowMs))",
      "resolveHold(money, due, expiryOf(money, due, nowMs))",
    ],
    [
      "the counters of the first expiry are not stored",
      "counters: [...(first.counters ?? []), ...(second.counters ?? [])]",
      "counters: second.counters ?? []",
    ],
    [
      "a late settlement returns the amount an expiry captured",
      "hold.captured > amount ?",
      "hold.captured < amount ?",
    ],
    [
      "a late settlement is booked as an ordinary one",
      "isLate ? TRANSFER_KINDS.lateSettlement",
      "isLate ? TRANSFER_KINDS.settlement",
    ],
    ["a released hold is settled", 'if (hold.state === "released") return decline("hold_released");', ""],
    ["a settlement with another amount is a replay", "hold.actual === amount ?", "true ?"],
    ["a late settlement's replay is a conflict", "hold.actual === amount ?", "hold.captured === amount ?"],
    [
      "a settlement may overflow the balance",
      'if (captured - hold.captured > bookable(money, hold.limits)) return decline("balance_overflow");',
      "",
    ],
    [
      "a settlement to the exact minimum balance is declined",
      "captured - hold.captured > bookable",
      "captured - hold.captured >= bookable",
    ],
    ["a settled hold is released", 'if (hold.state === "settled") return decline("hold_settled");', ""],
    [
      "a release returns the amount an expiry captured",
      'if (hold.state !== "held" && isInBook) return replaySettlement',
      'if (hold.state === "released") return replaySettlement',
    ],
    ["a release captures the accrued amount", "captured: 0n, kind", "captured: hold.accrued, kind"],
    [
      "the metadata of a settlement is lost",
      'const resolution = { facts, metadata };\n    return decideResolution(money, hold, {\n      state: "settled"',
      'const resolution = { facts, metadata: undefined };\n    return decideResolution(money, hold, {\n      state: "settled"',
    ],
  ],
  "core/resolve.ts": [
    [
      "a late settlement books the captured amount again",
      "transition.captured - hold.captured",
      "transition.captured",
    ],
    ["a hold is freed twice", 'hold.state === "held" ? hold.granted : 0n', "hold.granted"],
    ["a limit does not count a cost", "used: used + booked", "used"],
    ["a limit keeps the held amount of a resolved hold", "reserved: -freed", "reserved: 0n"],
    [
      "a late settlement is not marked late",
      'late: hold.late || hold.state === "expired"',
      "late: hold.late",
    ],
    ["a cost of 0 writes a transfer", "isMoved = booked > 0n", "isMoved = booked >= 0n"],
    ["two transfers have one number", "seq: wallet.lastSeq", "seq: wallet.lastSeq - 1"],
    ["the wallet does not count its transfers", "isMoved ? lastSeq + 1 : lastSeq", "lastSeq"],
    ["a capture debits the wrong account", "debitAccount: ACCOUNTS.wallet", "debitAccount: ACCOUNTS.funding"],
    [
      "the largest remainder bounds the bookable amount",
      "if (left < most) most = left;",
      "if (left > most) most = left;",
    ],
  ],
  "core/post.ts": [
    [
      "a refund of the whole remaining charge is declined",
      "amount > hold.captured - hold.refunded",
      "amount >= hold.captured - hold.refunded",
    ],
    ["refunds are not summed", "refunded: hold.refunded + amount", "refunded: amount"],
    ["a refund does not lower a limit's counter", "used: counter.used - amount", "used: counter.used"],
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
    [
      "a top-up of another amount is a replay",
      "stored.amount === amount && stored.debitAccount",
      "stored.debitAccount",
    ],
    [
      "a correction of a top-up's amount is its replay",
      "stored.amount === amount && stored.debitAccount === debitAccount",
      "stored.amount === amount",
    ],
    [
      "a correction adds money",
      "isCorrection\n    ? [ACCOUNTS.wallet, ACCOUNTS.funding]",
      "isCorrection\n    ? [ACCOUNTS.funding, ACCOUNTS.wallet]",
    ],
    ["a correction raises the balance", "wallet.posted - transfer.amount", "wallet.posted + transfer.amount"],
    ["a top-up is booked as a refund", "kind: TRANSFER_KINDS.topUp", "kind: TRANSFER_KINDS.refund"],
    [
      "a top-up may overflow the balance",
      'if (!isStorableSum(posted)) return decline("balance_overflow");',
      "",
    ],
    [
      "a charge counts against no limit",
      "limits: limitsOf(book, request, nowMs).map(({ key }) => key)",
      "limits: []",
    ],
    [
      "a charge counts for its key alone",
      "limitsOf(book, request, nowMs)",
      "limitsOf(book, { keyId: request.keyId }, nowMs)",
    ],
    ["a charge may have invalid scopes", 'if (scopes && !areScopes(scopes)) return "invalid_scope";', ""],
    ["a charge is booked as a settlement", "kind: TRANSFER_KINDS.charge", "kind: TRANSFER_KINDS.settlement"],
    ["a charge's transfer has the receipt's id", "transferId: request.chargeId,", ""],
    ["a repeated charge is booked twice", "if (replayed) return replayed;", ""],
    ["a charge of another amount is a replay", "stored.amount === amount && (", "("],
    ["a charge of another key is a replay", "receipt.keyId === keyId", "true"],
    ["a charge without its receipt conflicts", "receipt === undefined ||", ""],
    [
      "a charge of 0 is booked",
      'if (!isAmount(amount) || amount === 0n) return "invalid_amount"',
      'if (!isAmount(amount)) return "invalid_amount"',
    ],
    [
      "a charge may overflow the balance",
      'if (request.amount > bookable(money, receipt.limits)) return decline("balance_overflow");',
      "",
    ],
    ["a replayed charge returns a wrong receipt id", "receiptId: stored.holdId }", "receiptId: chargeId }"],
  ],
  "core/wallet.ts": [
    [
      "what was spent before a limit is no opening",
      "missed > 0n ? { ...key, used: missed } : undefined",
      "undefined",
    ],
    [
      "what a counter knows is counted again",
      "leastOf(spend.amount, NANOS_MAX) - counterOf(book, key).used",
      "leastOf(spend.amount, NANOS_MAX)",
    ],
    [
      "a limit that counts from now on counts what was spent before it",
      "if (countsFromNow || each !== undefined || !isCalendar(period))",
      "if (each !== undefined || !isCalendar(period))",
    ],
    [
      "a template counts what the wallet spent before it",
      "if (countsFromNow || each !== undefined || !isCalendar(period))",
      "if (countsFromNow || !isCalendar(period))",
    ],
    ["a hold that a limit does not bind comes to list it", "if (!binds(limit, hold)) continue;", ""],
    ["a hold that a template does not bind comes to list it", "subjectsOf(limit, hold)", "[undefined]"],
    ["an ended hold comes to list a limit", 'hold.state !== "held" || ', ""],
    ["a hold of an earlier period comes to list a limit", " || hold.holdId < firstId", ""],
    ["a hold lists a limit twice", ".filter((key) => !lists(hold, key))", ""],
    ["open holds are no part of a new limit", "held: counter.held + hold.granted", "held: counter.held"],
    ["an opening is not kept", "openings.push(opening);", ""],
    ["an opening is not counted", "used: counter.used + opening.used", "used: counter.used"],
    [
      "of several open holds one is part of a new limit",
      "counters.get(key) ?? counterOf(book, key)",
      "counterOf(book, key)",
    ],
    ["a window counts the holds that were open before it", "if (!isCalendar(period)) return [];", ""],
    [
      "a limit may bind a parent key as a scope",
      'if (!isBindable(request)) return decline("invalid_scope");',
      "",
    ],
    ["a template becomes a limit of all", " && stored.each === limit.each", ""],
    [
      "creating an existing wallet replaces it",
      "if (book.wallet) return { result: balancesOf(book.wallet) };",
      "",
    ],
    ["a wallet does not freeze", "{ ...wallet, state }", "wallet"],
    [
      "a limit moves to another key",
      'if (stored && !bindsSame(stored, limit)) return decline("conflict");',
      "",
    ],
    [
      "a limit keeps its old time zone",
      "stored !== undefined && isOfSamePeriod(stored, limit)",
      "stored !== undefined && isOfSamePeriod(stored, { ...limit, timeZone: stored.timeZone })",
    ],
    ["a deleted limit is not restored", "stored.deletedAtMs === undefined &&", ""],
    ["a changed limit forgets its period", "{ limits: [limit], ...counted }", "{ limits: [limit] }"],
    [
      "an unknown time zone is accepted",
      'if (timeZone !== undefined && !isTimeZone(timeZone)) return decline("invalid_time_zone");',
      "",
    ],
    ["a limit is not deleted", "{ ...stored, deletedAtMs: nowMs }", "stored"],
  ],
  "core/spender.ts": [
    ["a limit of a scope binds the whole wallet", "if (scope) return scope.kind + SEPARATOR + scope.id;", ""],
    [
      "a template of the wallet binds nothing",
      "[WALLET_TEMPLATES, keyId, templatesOf(keyId)]",
      "[keyId, templatesOf(keyId)]",
    ],
    [
      "a template of a key binds nothing",
      "[WALLET_TEMPLATES, keyId, templatesOf(keyId)]",
      "[WALLET_TEMPLATES, keyId]",
    ],
    [
      "a limit of a key does not bind the keys below it",
      'return kind === "parent_key" ? id : kind',
      "return kind",
    ],
    [
      "a template of a key does not bind the keys below it",
      'if (scope.kind === "parent_key") bindings.push(templatesOf(scope.id));',
      "",
    ],
    ["a template of keys counts nothing", 'if (each === "key") return [keyId];', ""],
    ["a template counts scopes of every kind", "filter(({ kind }) => kind === each)", "filter(() => true)"],
    [
      "a window goes on from a calendar period",
      "if (!isCalendar(period)) return",
      "if (period === undefined) return",
    ],
  ],
  "core/validate.ts": [
    ["a lost hold may have a negative grant", "!isAmount(granted) ||", ""],
    ["a lost hold may have invalid scopes", 'if (scopes && !areScopes(scopes)) return "invalid_scope";', ""],
    ["a hold may have 17 scopes", "scopes.length <= SCOPES_MAX &&", ""],
    ["a hold may have a scope twice", " && !occursBefore(scopes, scope, i)", ""],
    ["equal ids of two kinds are one scope", " && scopes[i]?.kind === kind", ""],
    ["a scope may be a key", 'kind !== "key" && SCOPE_KINDS', "SCOPE_KINDS"],
    ["a scope may have an empty id", ' && id !== ""', ""],
    ["a scope may have a long id", "isText(id, SCOPE_ID_CHARACTERS_MAX)", "isText(id, 1_000)"],
    ["a limit may bind a key and a scope", "keyId === undefined && scope.kind", "scope.kind"],
    ["a limit may bind a parent key", ' && scope.kind !== "parent_key"', ""],
    [
      "an id of exactly a day ago is declined",
      "Math.abs(madeAtMs - nowMs) <= DAY_MS",
      "Math.abs(madeAtMs - nowMs) < DAY_MS",
    ],
    ["an id from the future is accepted", "Math.abs(madeAtMs - nowMs)", "nowMs - madeAtMs"],
    ["an amount of 0 is declined", "amount >= 0n &&", "amount > 0n &&"],
    ["the largest amount is declined", "amount <= NANOS_MAX", "amount < NANOS_MAX"],
    ["any UUID is a hold id", "-7[0-9a-f]{3}-", "-[0-9a-f]{4}-"],
    ["metadata may be a byte longer than the bound", "BYTES_MAX = 4096", "BYTES_MAX = 4097"],
    ["metadata is measured in characters", "Buffer.byteLength(printed)", "printed.length"],
    ["metadata may be nested a level deeper than the bound", "DEPTH_MAX = 30", "DEPTH_MAX = 31"],
    [
      "metadata with names in another order differs",
      "Bun.deepEquals(JSON.parse(one), JSON.parse(other), true)",
      "false",
    ],
    ["metadata of equal length is equal", "Bun.deepEquals(JSON.parse(one), JSON.parse(other), true)", "true"],
    ["a JSON list is accepted as metadata", 'startsWith("{")', "length"],
    ["brackets in strings count as nesting", '.replaceAll(/"(?:[^"\\\\]|\\\\.)*"/g, "")', ""],
    ["negative token counts are accepted", "&& count >= 0", ""],
    ["attempts are not validated", "kept.every(isAttempt)", "true"],
  ],
  "../domain/period.ts": [
    ["weeks start on Sunday", "date.dayOfWeek - 1", "date.dayOfWeek % WEEK_DAYS"],
    ["weeks start on Sunday in UTC", "DAYS_SINCE_MONDAY_AT_EPOCH = 3", "DAYS_SINCE_MONDAY_AT_EPOCH = 4"],
    ["months start on the second day", "date.day - 1", "date.day - 2"],
    ["a cached period is used past its end", "atMs < cached.endMs", "atMs <= cached.endMs"],
    ["zones share the cached period", "latestSpans.get(name)", "latestSpans.values().next().value"],
    [
      "a repeated evening belongs to no period",
      "while (startOf(first.add(length)) <= atMs) first = first.add(length);",
      "",
    ],
    ["an offset is accepted as a time zone", "if (!/^[A-Za-z]/.test(name)) return false;", ""],
  ],
};

export const FAULTS: readonly Fault[] = Object.entries(CHANGES).flatMap(([file, changes]) =>
  changes.map(([name, from, to]) => ({ file, name, from, to })),
);
