import type { Dialect } from "../queries/query.ts";
import type { Invariant, WalletRange } from "./invariants.ts";

/** The invariants of credits. Kind 7 is the end of a credit; see invariants.ts for the other kinds. */
export function creditInvariants(dialect: Dialect, range: WalletRange): readonly Invariant[] {
  return [creditsAgree(range), endsAgree(dialect, range), claimsBind(dialect, range)];
}

/**
 * C1. What is left of the newest credit of a wallet that is not mixed follows from its balance, so that its row may
 * differ. Of a mixed wallet, everything above what holds claim of ended credits is left of the other credits.
 */
function creditsAgree(range: WalletRange): Invariant {
  return {
    id: "C1",
    claim: "what is left of a wallet's credits is its balance, or nothing while it owes",
    sql: `SELECT w.wallet_id, CAST(NULL AS text) AS subject FROM (
        SELECT wallet_id, posted, held FROM wallets WHERE mixed AND ${range("wallet_id")}
      ) AS w LEFT JOIN (
        SELECT wallet_id, sum(CASE WHEN claims IS NULL THEN left_amount ELSE 0 END) AS spendable,
          sum(CASE WHEN claims IS NULL THEN 0 ELSE left_amount END) AS claimed
        FROM credits WHERE live AND ${range("wallet_id")} GROUP BY wallet_id
      ) AS c ON c.wallet_id = w.wallet_id
      WHERE coalesce(claimed, 0) > held OR coalesce(spendable, 0)
        <> CASE WHEN posted > coalesce(claimed, 0) THEN posted - coalesce(claimed, 0) ELSE 0 END
      UNION ALL SELECT c.wallet_id, CAST(c.seq AS text) FROM credits c
        JOIN wallets w ON w.wallet_id = c.wallet_id
      WHERE ${range("c.wallet_id")}
        AND (c.live <> (c.left_amount > 0) OR (c.live AND NOT w.mixed AND c.seq <> w.newest_credit))
      UNION ALL SELECT w.wallet_id, CAST(w.newest_credit AS text) FROM wallets w
      WHERE ${range("w.wallet_id")} AND w.newest_credit <> 0 AND NOT EXISTS (
        SELECT 1 FROM credits c WHERE c.wallet_id = w.wallet_id AND c.seq = w.newest_credit)`,
  };
}

/** C2. Parts of other transfers may be less than the amount: the rest made or paid a debt. */
function endsAgree({ elements, item }: Dialect, range: WalletRange): Invariant {
  const part = `CAST(${item(1, "text")} AS bigint)`;
  return {
    id: "C2",
    claim: "what expired of a credit is the sum of its ends in the journal",
    sql: `SELECT wallet_id, CAST(seq AS text) AS subject FROM (
        SELECT wallet_id, seq, expired FROM credits WHERE ${range("wallet_id")}
      ) AS kept FULL JOIN (
        SELECT wallet_id, ${item(0, "integer")} AS seq, sum(${part}) AS ended
        FROM transfers t, ${elements("t.credits")} WHERE kind = 7 AND ${range("wallet_id")} GROUP BY 1, 2
      ) AS journal USING (wallet_id, seq)
      WHERE coalesce(expired, 0) <> coalesce(ended, 0)
      UNION ALL SELECT wallet_id, transfer_id FROM (
        SELECT wallet_id, transfer_id, kind, amount,
          (SELECT coalesce(sum(${part}), 0) FROM ${elements("t.credits")}) AS parts
        FROM transfers t WHERE (kind = 7 OR credits IS NOT NULL) AND ${range("wallet_id")}
      ) AS summed WHERE parts > amount OR (kind = 7 AND parts <> amount)`,
  };
}

/**
 * C3. A booked end has a time after every hold from before it, whatever clocks said. Whether a hold was taken before an
 * end is not known any more once its receipt was dropped.
 */
function claimsBind({ elements, item }: Dialect, range: WalletRange): Invariant {
  return {
    id: "C3",
    claim: "only a hold from before the end of a credit spends of it afterwards",
    sql: `SELECT t.wallet_id, t.transfer_id AS subject FROM (
        SELECT wallet_id, transfer_id, kind, hold_id, created_at_ms, ${item(0, "integer")} AS credit
        FROM transfers, ${elements("transfers.credits")}
        WHERE kind IN (2, 3, 4, 6) AND credits IS NOT NULL AND ${range("wallet_id")}
      ) AS t LEFT JOIN credits c ON c.wallet_id = t.wallet_id AND c.seq = t.credit
      LEFT JOIN holds h ON h.wallet_id = t.wallet_id AND h.hold_id = t.hold_id
      WHERE c.seq IS NULL OR (t.created_at_ms >= c.expires_at_ms
        AND (t.kind IN (4, 6) OR h.created_at_ms >= coalesce(c.ended_at_ms, c.expires_at_ms)))`,
  };
}
