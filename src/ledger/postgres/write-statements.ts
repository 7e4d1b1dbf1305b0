/** A column of a row type: its name and its type. */
export type Column = readonly [name: string, type: string];

const HOLD_KEY: readonly Column[] = [
  ["wallet_id", "text"],
  ["hold_id", "uuid"],
];

const STATE: readonly Column[] = [
  ["state", "text"],
  ["late", "boolean"],
  ["accrued", "bigint"],
  ["actual", "bigint"],
  ["captured", "bigint"],
  ["refunded", "bigint"],
  ["expires_at_ms", "bigint"],
  ["resolved_at_ms", "bigint"],
];

const REQUEST: readonly Column[] = [
  ["key_id", "text"],
  ["requested", "bigint"],
  ["minimum", "bigint"],
  ["granted", "bigint"],
  ["ttl_ms", "bigint"],
  ["created_at_ms", "bigint"],
  ["limits", "json"],
  ["surface", "text"],
  ["model", "text"],
  ["metadata", "json"],
];

const RESOLUTION: readonly Column[] = [
  ["outcome", "text"],
  ["source", "text"],
  ["upstream", "text"],
  ["upstream_model", "text"],
  ["price_input", "bigint"],
  ["price_output", "bigint"],
  ["price_cached_input", "bigint"],
  ["price_cache_write", "bigint"],
  ["price_cache_write_1h", "bigint"],
  ["input_tokens", "bigint"],
  ["cached_input_tokens", "bigint"],
  ["cache_write_tokens", "bigint"],
  ["cache_write_1h_tokens", "bigint"],
  ["output_tokens", "bigint"],
  ["first_output_ms", "bigint"],
  ["total_ms", "bigint"],
  ["attempts", "json"],
  ["settle_metadata", "json"],
];

const WALLET_KEY: readonly Column[] = [["wallet_id", "text"]];

const WALLET: readonly Column[] = [
  ["posted", "bigint"],
  ["held", "bigint"],
  ["credit_limit", "bigint"],
  ["state", "text"],
  ["last_seq", "bigint"],
];

const TRANSFER: readonly Column[] = [
  ["wallet_id", "text"],
  ["seq", "bigint"],
  ["transfer_id", "text"],
  ["kind", "smallint"],
  ["debit_account", "smallint"],
  ["credit_account", "smallint"],
  ["amount", "bigint"],
  ["posted_after", "bigint"],
  ["hold_id", "uuid"],
  ["created_at_ms", "bigint"],
];

const COUNTER_KEY: readonly Column[] = [
  ["wallet_id", "text"],
  ["limit_id", "text"],
  ["period_start_ms", "bigint"],
];

const COUNTER: readonly Column[] = [
  ["used", "bigint"],
  ["held", "bigint"],
];

const LIMIT_KEY: readonly Column[] = [
  ["wallet_id", "text"],
  ["limit_id", "text"],
];

const LIMIT: readonly Column[] = [
  ["key_id", "text"],
  ["period", "text"],
  ["time_zone", "text"],
  ["amount", "bigint"],
  ["deleted_at_ms", "bigint"],
];

const CREATED: Column = ["created_at_ms", "bigint"];

/** The row types that batches are sent as, with their fields in order. The migrations create them. */
export const ROW_TYPES = {
  batch_wallet: [...WALLET_KEY, ...WALLET, CREATED],
  batch_hold: [...HOLD_KEY, ...STATE, ...REQUEST],
  batch_hold_state: [...HOLD_KEY, ...STATE],
  batch_hold_ending: [...HOLD_KEY, ...STATE, ...RESOLUTION],
  batch_transfer: TRANSFER,
  batch_counter: [...COUNTER_KEY, ...COUNTER],
  batch_limit: [...LIMIT_KEY, ...LIMIT],
} as const satisfies Record<string, readonly Column[]>;

/** The writing statements of a batch. Parameters: the rows as an array of a row type, and their number. */
export const STATEMENTS = {
  newWallets: insert("wallets", "batch_wallet"),
  wallets: update("wallets", "batch_wallet", { key: WALLET_KEY, set: WALLET }),
  newHolds: insert("holds", "batch_hold"),
  holds: update("holds", "batch_hold_state", { key: HOLD_KEY, set: STATE }),
  resolutions: update("holds", "batch_hold_ending", { key: HOLD_KEY, set: [...STATE, ...RESOLUTION] }),
  transfers: insert("transfers", "batch_transfer"),
  counters: upsert("limit_counters", "batch_counter", { key: COUNTER_KEY, set: COUNTER }),
  limits: upsert("spend_limits", "batch_limit", { key: LIMIT_KEY, set: LIMIT }),
};

type RowType = keyof typeof ROW_TYPES;

interface UpdateColumns {
  readonly key: readonly Column[];
  readonly set: readonly Column[];
}

function insert(table: string, type: RowType): string {
  const columns = namesOf(ROW_TYPES[type]);
  return withCount(`INSERT INTO ${table} (${columns}) SELECT ${columns} FROM unnest($1::${type}[])`);
}

/** Inserts rows whose key is new; updates the other columns of existing rows. */
function upsert(table: string, type: RowType, { key, set }: UpdateColumns): string {
  const columns = namesOf(ROW_TYPES[type]);
  const replaced = set.map(([name]) => `${name} = excluded.${name}`);
  return withCount(`INSERT INTO ${table} (${columns}) SELECT ${columns} FROM unnest($1::${type}[])
      ON CONFLICT (${namesOf(key)}) DO UPDATE SET ${replaced.join(", ")}`);
}

function update(table: string, type: RowType, { key, set }: UpdateColumns): string {
  const assigned = set.map(([name]) => `${name} = r.${name}`);
  const match = key.map(([name]) => `t.${name} = r.${name}`);
  return withCount(`UPDATE ${table} AS t SET ${assigned.join(", ")} FROM unnest($1::${type}[]) AS r
      WHERE ${match.join(" AND ")}`);
}

/** Fails by a division by zero unless every row was written: otherwise rows changed after they were read. */
function withCount(write: string): string {
  return `WITH written AS (${write} RETURNING 1)
    SELECT 1 / (count(*) = $2::integer)::integer FROM written`;
}

function namesOf(columns: readonly Column[]): string {
  return columns.map(([name]) => name).join(", ");
}
