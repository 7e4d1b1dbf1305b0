/** A statement about the books that is always true: its query returns the rows that contradict it. */
export interface Invariant {
  readonly id: string;
  readonly says: string;
  /** Columns `wallet_id` and `subject` (a hold, transfer or limit, null for the wallet as a whole). */
  readonly sql: string;
}

/** Holds may be this much past their time before the audit warns: the sweeper comes every few seconds. */
const GRACE_MS = 30_000;

/**
 * The invariants of a SQLite ledger. Transfer kinds: 1 top-up, 2 settlement, 3 expiry capture, 4 late
 * settlement, 5 refund; accounts: 1 wallet, 2 usage revenue, 3 funding.
 */
export const INVARIANTS: readonly Invariant[] = [
  {
    id: "I1",
    says: "every transfer moves between the accounts of its kind",
    sql: `SELECT wallet_id, transfer_id AS subject FROM transfers
      WHERE (kind, debit_account, credit_account) NOT IN (VALUES (1, 3, 1), (2, 1, 2), (3, 1, 2), (4, 1, 2), (5, 2, 1))
        OR amount <= 0`,
  },
  {
    id: "I2",
    says: "posted is the sum of the wallet's entries",
    sql: `SELECT w.wallet_id, NULL AS subject FROM wallets w LEFT JOIN (
        SELECT wallet_id, sum(CASE WHEN credit_account = 1 THEN amount ELSE -amount END) AS entries
        FROM transfers GROUP BY wallet_id) USING (wallet_id)
      WHERE w.posted <> coalesce(entries, 0)
      UNION ALL SELECT wallet_id, transfer_id FROM transfers WHERE wallet_id NOT IN (SELECT wallet_id FROM wallets)`,
  },
  {
    id: "I3",
    says: "held is the sum of the open holds",
    sql: `SELECT w.wallet_id, NULL AS subject FROM wallets w LEFT JOIN (
        SELECT wallet_id, sum(granted) AS open FROM holds WHERE state = 'held' GROUP BY wallet_id) USING (wallet_id)
      WHERE w.held <> coalesce(open, 0)
      UNION ALL SELECT wallet_id, hold_id FROM holds WHERE wallet_id NOT IN (SELECT wallet_id FROM wallets)`,
  },
  {
    id: "I4",
    says: "transfers are numbered without a gap and each carries on from the balance before",
    sql: `SELECT wallet_id, transfer_id AS subject FROM (
        SELECT *, row_number() OVER chain AS place, lag(posted_after, 1, 0) OVER chain AS posted_before
        FROM transfers WINDOW chain AS (PARTITION BY wallet_id ORDER BY seq))
      WHERE seq <> place OR posted_after <> posted_before + CASE WHEN credit_account = 1 THEN amount ELSE -amount END
      UNION ALL SELECT wallet_id, NULL FROM wallets w
      WHERE last_seq <> (SELECT coalesce(max(seq), 0) FROM transfers t WHERE t.wallet_id = w.wallet_id)`,
  },
  {
    id: "I5",
    says: "a hold's transfers come to what it captured and gave back, never lost and never twice",
    sql: `SELECT h.wallet_id, h.hold_id AS subject FROM holds h LEFT JOIN (
        SELECT wallet_id, hold_id, sum(iif(kind = 5, 0, amount)) AS captures, sum(iif(kind = 5, amount, 0)) AS refunds
        FROM transfers WHERE hold_id IS NOT NULL GROUP BY wallet_id, hold_id) USING (wallet_id, hold_id)
      WHERE h.captured <> coalesce(captures, 0) OR h.refunded <> coalesce(refunds, 0)
        OR (h.state IN ('held', 'released') AND h.captured <> 0)
      UNION ALL SELECT t.wallet_id, t.transfer_id FROM transfers t LEFT JOIN holds h USING (wallet_id, hold_id)
      WHERE t.kind <> 1 AND h.state IS NULL`,
  },
  {
    id: "I6",
    says: "a limit's counters are the sums of the holds that count against its period",
    sql: `WITH counted AS (
        SELECT h.wallet_id, value ->> 0 AS limit_id, value ->> 1 AS period_start_ms,
          sum(h.captured - h.refunded) AS used, sum(iif(h.state = 'held', h.granted, 0)) AS held
        FROM holds h, json_each(h.limits) GROUP BY 1, 2, 3)
      SELECT wallet_id, limit_id AS subject FROM limit_counters c
        FULL JOIN counted s USING (wallet_id, limit_id, period_start_ms)
      WHERE coalesce(c.used, 0) <> coalesce(s.used, 0) OR coalesce(c.held, 0) <> coalesce(s.held, 0)`,
  },
  {
    id: "I8",
    says: "a negative available balance is explained by costs above what was held or after expiry",
    sql: `SELECT wallet_id, NULL AS subject FROM wallets w WHERE posted - held + credit_limit < 0
      AND held - posted - credit_limit > (
        SELECT coalesce(sum(iif(late = 1 OR captured < granted, iif(late = 1, captured, 0), captured - granted)), 0)
        FROM holds h WHERE h.wallet_id = w.wallet_id)`,
  },
];

/** I7, a warning: a hold is open well past its time. Takes the time as its parameter. */
export const OVERDUE: Invariant = {
  id: "I7",
  says: "no hold is open past its time",
  sql: `SELECT wallet_id, hold_id AS subject FROM holds WHERE state = 'held' AND expires_at_ms <= ? - ${GRACE_MS}`,
};
