/** SQL that differs between the stores. */
export interface FillDialect {
  /** A table with the column `n`, from one number to before another. */
  numbers(from: number, to: number): string;
  /** A UUIDv7 of a time, whose last digits are the number of the row. */
  holdId(ms: string): string;
  readonly isLate: string;
  /** A text as a value of a JSON column. */
  json(text: string): string;
}

export const SQLITE_FILL: FillDialect = {
  numbers: (from, to) =>
    `(WITH RECURSIVE c(n) AS (SELECT ${from} UNION ALL SELECT n + 1 FROM c WHERE n + 1 < ${to}) SELECT n FROM c)`,
  holdId: (ms) => `printf('%08x-%04x-7%03x-8000-%012x', (${ms}) >> 16, (${ms}) & 65535, n & 4095, n)`,
  isLate: "0",
  json: (text) => text,
};

export const POSTGRES_FILL: FillDialect = {
  numbers: (from, to) => `(SELECT n FROM generate_series(${from}::bigint, ${to - 1}) AS g(n))`,
  holdId: (
    ms,
  ) => `(lpad(to_hex((${ms}) >> 16), 8, '0') || '-' || lpad(to_hex((${ms}) & 65535), 4, '0') || '-7'
    || lpad(to_hex(n & 4095), 3, '0') || '-8000-' || lpad(to_hex(n), 12, '0'))::uuid`,
  isLate: "false",
  json: (text) => `CAST(${text} AS json)`,
};

/** Receipts to make: spread evenly over the days before `endMs`. */
export interface Fill {
  readonly count: number;
  readonly days: number;
  readonly endMs: number;
}

const WALLETS = 40;
export const FILLED_RECEIPTS = 100_000;

const KEYS = 12;
const KEYS_OF_SMALL = 6;
const FUNDS = 1_000_000_000_000_000n;
const DAY_MS = 86_400_000;

/** The wallet with 46 % of the receipts, and one of the others with 1.4 % each. */
export const BIG_WALLET = "bench-00";
export const SMALL_WALLET = "bench-07";
/** A key of the big wallet with one receipt in a million. */
export const RARE_KEY = "key-rare";

/** Inserts the wallets, each with its top-up as the first transfer. */
export function walletStatements({ days, endMs }: Fill): readonly string[] {
  const startMs = endMs - days * DAY_MS - 1;
  const names = Array.from({ length: WALLETS }, (_, i) => `bench-${`${i}`.padStart(2, "0")}`);
  const wallets = names.map((id) => `('${id}', ${FUNDS}, 0, 0, 'active', 1, ${startMs})`);
  const topUps = names.map((id) => `('${id}', 1, 'seed', 1, 3, 1, ${FUNDS}, ${FUNDS}, NULL, ${startMs})`);
  return [
    `INSERT INTO wallets (wallet_id, posted, held, credit_limit, state, last_seq, created_at_ms) VALUES ${wallets.join(", ")}`,
    `INSERT INTO transfers (wallet_id, seq, transfer_id, kind, debit_account, credit_account, amount, posted_after,
      hold_id, created_at_ms) VALUES ${topUps.join(", ")}`,
  ];
}

const MULTIPLIERS = [48_271, 69_621, 16_807, 39_373, 40_692];

/** A pseudo-random number from 0 to 65,535 for the row; each purpose has numbers of its own. */
function random(purpose: number): string {
  const scrambled = `((n * ${MULTIPLIERS[purpose]} + ${purpose * 7919}) % 2147483647)`;
  return `((${scrambled} * ${40_014 + 2 * purpose} % 2147483563) % 65536)`;
}

/** Inserts receipts `from` to before `to`, settled or released. About 425 groups are alive in an hour. */
export function receiptStatement(dialect: FillDialect, fill: Fill, from: number, to: number): string {
  const stepMs = (fill.days * DAY_MS) / fill.count;
  const startMs = fill.endMs - fill.days * DAY_MS;
  const ms = `(${startMs} + CAST(n * ${stepMs} AS bigint))`;
  const isOk = "fate < 62000";
  return `INSERT INTO holds (wallet_id, hold_id, key_id, state, late, requested, minimum, granted, accrued, actual,
      captured, refunded, ttl_ms, created_at_ms, expires_at_ms, resolved_at_ms, surface, model, outcome, source,
      upstream, upstream_model, price_input, price_output, price_cached_input, price_cache_write,
      price_cache_write_1h, input_tokens, cached_input_tokens, cache_write_tokens, cache_write_1h_tokens,
      output_tokens, first_output_ms, total_ms, attempts, metadata)
    SELECT wallet_id, hold_id, CASE WHEN n % 1000000 = 77 THEN '${RARE_KEY}' ELSE 'key-' || key_no END,
      CASE WHEN ${isOk} THEN 'settled' ELSE 'released' END, ${dialect.isLate}, 50000, 10000, 50000, 0,
      CASE WHEN ${isOk} THEN cost END, CASE WHEN ${isOk} THEN cost ELSE 0 END, 0, 60000, ms, ms + 60000,
      ms + 900, 'chat', 'model-' || model_no, CASE WHEN ${isOk} THEN 'ok' WHEN fate < 64000 THEN 'upstream_timeout'
      ELSE 'client_closed' END, CASE WHEN ${isOk} THEN 'reported' ELSE 'none' END, 'upstream-' || (model_no % 3),
      'model', 3000, 15000, 300, 3750, 6000, cost % 977, cost % 211, 0, 0, cost % 401,
      50 + cost % 1900, 300 + cost % 21000, ${dialect.json("'[]'")},
      ${dialect.json(`'{"team":"t' || (n % 9) || '"}'`)}
    FROM (SELECT n, ms, hold_id, fate, cost,
        CASE WHEN share < 30147 THEN key_no ELSE key_no % ${KEYS_OF_SMALL} END AS key_no,
        CASE WHEN share < 30147 THEN (key_no + ${random(4)} % 3) % ${KEYS} ELSE key_no % ${KEYS_OF_SMALL} END AS model_no,
        CASE WHEN share < 30147 THEN '${BIG_WALLET}' WHEN share % 39 < 9 THEN 'bench-0' || (1 + share % 39)
          ELSE 'bench-' || (1 + share % 39) END AS wallet_id
      FROM (SELECT n, ${ms} AS ms, ${dialect.holdId(ms)} AS hold_id, ${random(1)} AS share,
          ${random(2)} % ${KEYS} AS key_no, ${random(3)} AS fate, 1000 + ${random(0)} AS cost
        FROM ${dialect.numbers(from, to)} AS numbers) AS drawn) AS chosen`;
}

/**
 * Inserts the settlement of each receipt that was charged, and gives the wallets the balances after them. Must
 * run once, after the last receipt.
 */
export function settlementStatements(): readonly string[] {
  const order = "PARTITION BY wallet_id ORDER BY hold_id";
  return [
    `INSERT INTO transfers (wallet_id, seq, transfer_id, kind, debit_account, credit_account, amount, posted_after,
      hold_id, created_at_ms)
    SELECT wallet_id, 1 + row_number() OVER (${order}), CAST(hold_id AS text), 2, 1, 2, captured,
      ${FUNDS} - sum(captured) OVER (${order}), hold_id, resolved_at_ms
    FROM holds WHERE captured > 0 ORDER BY holds.hold_id`,
    `UPDATE wallets SET last_seq = newest.seq, posted = newest.posted_after FROM (
      SELECT transfers.wallet_id, seq, posted_after FROM transfers
      JOIN (SELECT wallet_id, max(seq) AS last FROM transfers GROUP BY wallet_id) AS ends
        ON ends.wallet_id = transfers.wallet_id AND ends.last = transfers.seq
    ) AS newest WHERE newest.wallet_id = wallets.wallet_id`,
  ];
}
