import type { Dialect } from "../queries/query.ts";
import { partsOf, selectDiffering } from "../queries/usage-columns.ts";
import { ABOVE } from "../retention/sums.ts";

/** A condition that always holds in a ledger. Its query returns the rows that violate it. */
export interface Invariant {
  readonly id: string;
  /** The invariant as a clause, printed by `tollgate audit`. */
  readonly claim: string;
  /** Selects `wallet_id` and `subject`: the id of a hold, transfer or limit; null for the wallet itself. */
  readonly sql: string;
}

/**
 * Returns the SQL condition that limits a query to the audited wallets. Parameter: a column of wallet ids.
 */
export type WalletRange = (walletId: string) => string;

/** The amount of a transfer with its sign on the wallet's balance: credits are positive. */
const SIGNED = "CASE WHEN credit_account = 1 THEN amount ELSE -amount END";

/**
 * The invariants of a ledger, in SQL that both databases run. Transfer kinds: 1 top-up, 2 settlement,
 * 3 expiry capture, 4 late settlement, 5 refund, 6 charge, 7 end of a credit. A top-up out of the wallet is a correction.
 * Accounts: 1 wallet, 2 usage revenue, 3 funding, 4 expired.
 */
export function invariantsOf(dialect: Dialect, range: WalletRange): readonly Invariant[] {
  return [
    ...walletInvariants(range),
    ...receiptInvariants(dialect, range),
    countersAgree(dialect, range),
    countersBind(dialect, range),
  ];
}

/** I7, only a warning. `before` is SQL for the Unix milliseconds before which a hold counts as overdue. */
export function overdueHolds(range: WalletRange, before: string): Invariant {
  return {
    id: "I7",
    claim: "no hold is open past its time",
    sql: `SELECT wallet_id, CAST(hold_id AS text) AS subject FROM holds
      WHERE state = 'held' AND expires_at_ms <= ${before} AND ${range("wallet_id")}`,
  };
}

/** SQL that is true for the id of a receipt that may have been dropped. */
export function isBeforeDrops({ idTimeMs }: Pick<Dialect, "idTimeMs">, holdId: string): string {
  return `${idTimeMs(holdId)} < (SELECT receipts_from_ms FROM retention)`;
}

function walletInvariants(range: WalletRange): readonly Invariant[] {
  return [
    {
      id: "I1",
      claim: "every transfer moves between the accounts of its kind",
      sql: `SELECT wallet_id, transfer_id AS subject FROM transfers
        WHERE ${range("wallet_id")} AND (amount <= 0 OR (kind, debit_account, credit_account)
          NOT IN (VALUES (1, 3, 1), (1, 1, 3), (2, 1, 2), (3, 1, 2), (4, 1, 2), (5, 2, 1), (6, 1, 2),
            (7, 1, 4)))`,
    },
    {
      id: "I2",
      claim: "posted is the sum of the wallet's entries",
      sql: `SELECT w.wallet_id, CAST(NULL AS text) AS subject FROM wallets w LEFT JOIN (
          SELECT wallet_id, sum(${SIGNED}) AS entries FROM transfers WHERE ${range("wallet_id")} GROUP BY wallet_id
        ) AS journal ON journal.wallet_id = w.wallet_id
        WHERE ${range("w.wallet_id")} AND w.posted <> coalesce(entries, 0)
        UNION ALL SELECT wallet_id, transfer_id FROM transfers t
        WHERE ${range("wallet_id")} AND NOT EXISTS (SELECT 1 FROM wallets w WHERE w.wallet_id = t.wallet_id)`,
    },
    {
      id: "I3",
      claim: "held is the sum of the open holds",
      sql: `SELECT w.wallet_id, CAST(NULL AS text) AS subject FROM wallets w LEFT JOIN (
          SELECT wallet_id, sum(granted) AS granted FROM holds
          WHERE state = 'held' AND ${range("wallet_id")} GROUP BY wallet_id
        ) AS open_holds ON open_holds.wallet_id = w.wallet_id
        WHERE ${range("w.wallet_id")} AND w.held <> coalesce(granted, 0)
        UNION ALL SELECT wallet_id, CAST(hold_id AS text) FROM holds h
        WHERE ${range("wallet_id")} AND NOT EXISTS (SELECT 1 FROM wallets w WHERE w.wallet_id = h.wallet_id)`,
    },
    {
      id: "I4",
      claim: "transfers are numbered without a gap and each continues from the balance before",
      sql: `SELECT wallet_id, transfer_id AS subject FROM (
          SELECT wallet_id, transfer_id, seq, posted_after, ${SIGNED} AS signed, row_number() OVER chain AS place,
            lag(posted_after, 1, CAST(0 AS bigint)) OVER chain AS posted_before
          FROM transfers WHERE ${range("wallet_id")} WINDOW chain AS (PARTITION BY wallet_id ORDER BY seq)
        ) AS chained WHERE seq <> place OR posted_after <> posted_before + signed
        UNION ALL SELECT w.wallet_id, CAST(NULL AS text) FROM wallets w LEFT JOIN (
          SELECT wallet_id, max(seq) AS newest FROM transfers WHERE ${range("wallet_id")} GROUP BY wallet_id
        ) AS journal ON journal.wallet_id = w.wallet_id
        WHERE ${range("w.wallet_id")} AND w.last_seq <> coalesce(newest, 0)`,
    },
    {
      id: "I8",
      claim:
        "a negative available balance is explained by corrections, charges, costs above the held amount and late settlements",
      // The end of a credit leaves what open holds claim, and so makes no balance negative that was not.
      // Summed in parts of 10^9: the sum of all such costs may exceed 64 bits.
      sql: `SELECT w.wallet_id, CAST(NULL AS text) AS subject FROM (
          SELECT wallet_id, held - posted - credit_limit AS overdraft FROM wallets
          WHERE ${range("wallet_id")} AND posted - held + credit_limit < 0
        ) AS w LEFT JOIN (
          SELECT wallet_id, sum(above_high) AS above_high, sum(above_low) AS above_low FROM (
            SELECT wallet_id, ${partsOf(ABOVE)[0]} AS above_high, ${partsOf(ABOVE)[1]} AS above_low FROM holds
            WHERE ${range("wallet_id")}
              AND wallet_id IN (SELECT wallet_id FROM wallets WHERE posted - held + credit_limit < 0)
            UNION ALL SELECT wallet_id, above_high, above_low FROM dropped_receipts WHERE ${range("wallet_id")}
            UNION ALL SELECT wallet_id, ${partsOf("amount").join(", ")} FROM transfers
            WHERE kind = 1 AND debit_account = 1 AND ${range("wallet_id")}
          ) AS costs GROUP BY wallet_id
        ) AS explained ON explained.wallet_id = w.wallet_id
        WHERE (overdraft / 1000000000 - coalesce(above_high, 0)) * 1000000000 + overdraft % 1000000000
          > coalesce(above_low, 0)`,
    },
  ];
}

function receiptInvariants(dialect: Dialect, range: WalletRange): readonly Invariant[] {
  return [
    {
      id: "I5",
      claim: "a hold's transfers add up to its captured and refunded amounts",
      sql: `SELECT h.wallet_id, CAST(h.hold_id AS text) AS subject FROM holds h LEFT JOIN (
          SELECT wallet_id, hold_id, sum(CASE WHEN kind = 5 THEN 0 ELSE amount END) AS captures,
            sum(CASE WHEN kind = 5 THEN amount ELSE 0 END) AS refunds
          FROM transfers WHERE hold_id IS NOT NULL AND ${range("wallet_id")} GROUP BY wallet_id, hold_id
        ) AS t ON t.wallet_id = h.wallet_id AND t.hold_id = h.hold_id
        WHERE ${range("h.wallet_id")} AND (h.captured <> coalesce(captures, 0) OR h.refunded <> coalesce(refunds, 0)
          OR (h.state IN ('held', 'released') AND h.captured <> 0)
          OR (h.state = 'settled' AND (h.actual IS NULL OR h.captured < h.actual OR (h.captured > h.actual AND NOT h.late)))
          OR h.state NOT IN ('held', 'settled', 'released', 'expired'))
        UNION ALL SELECT t.wallet_id, t.transfer_id FROM transfers t
        LEFT JOIN holds h ON h.wallet_id = t.wallet_id AND h.hold_id = t.hold_id
        WHERE ${range("t.wallet_id")} AND t.kind NOT IN (1, 7) AND h.state IS NULL
          AND NOT coalesce(${isBeforeDrops(dialect, "t.hold_id")}, false)`,
    },
    {
      id: "R1",
      claim: "a receipt's cost was captured by at most one transfer of each kind that its state allows",
      sql: `SELECT h.wallet_id, CAST(h.hold_id AS text) AS subject FROM (
          SELECT wallet_id, hold_id, count(*) AS captures, count(DISTINCT kind) AS kinds,
            sum(CASE WHEN kind = 2 THEN 1 ELSE 0 END) AS settlements,
            sum(CASE WHEN kind = 3 THEN 1 ELSE 0 END) AS expiries,
            sum(CASE WHEN kind = 4 THEN 1 ELSE 0 END) AS lates,
            sum(CASE WHEN kind = 6 THEN 1 ELSE 0 END) AS charges,
            sum(CASE WHEN kind <> 6 AND transfer_id <> CAST(hold_id AS text) THEN 1 ELSE 0 END) AS misnamed
          FROM transfers WHERE kind IN (2, 3, 4, 6) AND hold_id IS NOT NULL AND ${range("wallet_id")}
          GROUP BY wallet_id, hold_id
        ) AS t JOIN holds h ON h.wallet_id = t.wallet_id AND h.hold_id = t.hold_id
        WHERE ${range("h.wallet_id")} AND (captures <> kinds OR misnamed > 0 OR NOT (CASE
          WHEN charges > 0 THEN captures = 1 AND h.state = 'settled' AND h.granted = 0 AND NOT h.late
          WHEN h.state = 'settled' AND h.late THEN settlements = 0
          WHEN h.state = 'settled' THEN captures = settlements
          WHEN h.state = 'expired' THEN captures = expiries
          ELSE captures = 0 END))
        UNION ALL SELECT wallet_id, transfer_id FROM transfers
        WHERE ${range("wallet_id")} AND (kind IN (1, 7)) <> (hold_id IS NULL)`,
    },
  ];
}

function countersAgree({ elements, item }: Dialect, range: WalletRange): Invariant {
  return {
    id: "I6",
    claim:
      "a limit's counters are the sums of the holds that count against its period, dropped ones included",
    sql: selectDiffering(
      "wallet_id, limit_id AS subject",
      {
        keys: ["wallet_id", "limit_id", "period_start_ms"],
        one: `SELECT wallet_id, limit_id, period_start_ms, used AS kept_used, held AS kept_held
          FROM limit_counters WHERE ${range("wallet_id")}`,
        other: `SELECT wallet_id, limit_id, period_start_ms, sum(used) AS used, sum(held) AS held FROM (
          SELECT wallet_id, ${item(0, "text")} AS limit_id, CAST(${item(1, "integer")} AS bigint) AS period_start_ms,
            captured - refunded AS used, CASE WHEN state = 'held' THEN granted ELSE 0 END AS held
          FROM holds h, ${elements("h.limits")} WHERE ${range("wallet_id")}
          UNION ALL SELECT wallet_id, limit_id, period_start_ms, used, 0 FROM dropped_counters
          WHERE ${range("wallet_id")}
        ) AS shares GROUP BY 1, 2, 3`,
      },
      "coalesce(kept_used, 0) <> coalesce(used, 0) OR coalesce(kept_held, 0) <> coalesce(held, 0)",
    ),
  };
}

/** Bindings and the ids of counters have lines, those of windows empty ones at the end: see core/spender.ts. */
function countersBind({ elements, item, firstPart }: Dialect, range: WalletRange): Invariant {
  const [kind, id] = [`(${item(0, "text")})`, `(${item(1, "text")})`];
  const scopes = (condition: string) => `EXISTS (SELECT 1 FROM ${elements("c.scopes")} WHERE ${condition})`;
  return {
    id: "S1",
    claim: "a hold counts against limits that bind its key or one of its scopes, a template's by that scope",
    sql: `SELECT c.wallet_id, CAST(c.hold_id AS text) AS subject FROM (
        SELECT h.wallet_id, h.hold_id, h.key_id, h.scopes, rtrim(${item(0, "text")}, '\n') AS counter_id
        FROM holds h, ${elements("h.limits")} WHERE h.limits IS NOT NULL AND ${range("h.wallet_id")}
      ) AS c LEFT JOIN spend_limits l ON l.wallet_id = c.wallet_id AND l.limit_id = ${firstPart("c.counter_id", "\n")}
      WHERE l.limit_id IS NULL
        OR NOT (coalesce(l.key_id, c.key_id) IN (c.key_id, 'wallet\n', 'key\n' || c.key_id)
          OR ${scopes(`l.key_id IN (CASE ${kind} WHEN 'parent_key' THEN ${id} ELSE ${kind} || '\n' || ${id} END,
            CASE ${kind} WHEN 'parent_key' THEN 'key\n' || ${id} END)`)})
        OR (l.each_kind IS NULL AND c.counter_id <> l.limit_id)
        OR (l.each_kind = 'key' AND c.counter_id <> l.limit_id || '\n' || c.key_id)
        OR (l.each_kind <> 'key' AND NOT ${scopes(
          `${kind} = l.each_kind AND c.counter_id = l.limit_id || '\n' || ${id}`,
        )})`,
  };
}
