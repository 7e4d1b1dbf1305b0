import { Database } from "bun:sqlite";

interface SumRow {
  readonly wallet_id: string;
  readonly key_id: string;
  readonly scopes: string | null;
  readonly cost: bigint;
}

const COST = "sum(CASE WHEN late = 1 THEN captured ELSE max(captured - granted, 0) END) AS cost";
const SUMS = `SELECT wallet_id, key_id, scopes, ${COST} FROM holds GROUP BY wallet_id, key_id, scopes`;
/** Whether a hold is of a key, or of one below it. */
const OF_KEY = `(key_id = ?2 OR instr(scopes, '["parent_key","' || ?2 || '"]') > 0)`;

/**
 * What wallets and keys may have spent beyond their bounds: costs above their holds, and costs of holds that had
 * expired before.
 */
export class CostsAbove {
  /** By wallet or key, the costs of receipts that were dropped. */
  readonly #dropped = new Map<string, bigint>();

  /** Runs work that may drop receipts of a file, and remembers their costs. */
  dropping<Result>(path: string, work: () => Result): Result {
    const before = readSums(path);
    const result = work();
    const after = readSums(path);
    for (const [id, cost] of before) {
      const gone = cost - (after.get(id) ?? 0n);
      this.#dropped.set(id, (this.#dropped.get(id) ?? 0n) + gone);
    }
    return result;
  }

  /** The costs of a wallet, or of one of its keys with those below it. */
  of(client: Database, walletId: string, keyId?: string): bigint {
    const row = client
      .query<{ cost: bigint | null }, [string, string | null]>(
        `SELECT ${COST} FROM holds WHERE wallet_id = ?1 AND (?2 IS NULL OR ${OF_KEY})`,
      )
      .safeIntegers(true)
      .get(walletId, keyId ?? null);
    return (this.#dropped.get(keyId ?? walletId) ?? 0n) + (row?.cost ?? 0n);
  }
}

function readSums(path: string): ReadonlyMap<string, bigint> {
  const client = new Database(path, { readonly: true, strict: true });
  const sums = sumsOf(client);
  client.close();
  return sums;
}

function sumsOf(client: Database): ReadonlyMap<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const { wallet_id, key_id, scopes, cost } of client.query<SumRow, []>(SUMS).safeIntegers(true).all()) {
    const above = (JSON.parse(scopes ?? "[]") as [string, string][]).filter(
      ([kind]) => kind === "parent_key",
    );
    for (const id of [wallet_id, key_id, ...above.map(([, id]) => id)])
      sums.set(id, (sums.get(id) ?? 0n) + cost);
  }
  return sums;
}
