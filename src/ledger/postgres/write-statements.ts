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
  ["scopes", "json"],
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
  ["upstream_cost", "bigint"],
  ["unit_name", "text"],
  ["units", "bigint"],
  ["unit_price", "bigint"],
  ["tier", "text"],
  ["items", "json"],
];

const WALLET_KEY: readonly Column[] = [["wallet_id", "text"]];

const WALLET: readonly Column[] = [
  ["posted", "bigint"],
  ["held", "bigint"],
  ["credit_limit", "bigint"],
  ["state", "text"],
  ["last_seq", "bigint"],
  ["newest_credit", "bigint"],
  ["mixed", "boolean"],
  ["newest_hold_ms", "bigint"],
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
  ["credits", "json"],
];

const CREDIT_KEY: readonly Column[] = [
  ["wallet_id", "text"],
  ["seq", "bigint"],
];

const CREDIT: readonly Column[] = [
  ["left_amount", "bigint"],
  ["expired", "bigint"],
  ["claims", "bigint"],
  ["ended_at_ms", "bigint"],
  ["live", "boolean"],
];

const GRANT: readonly Column[] = [
  ["credit_id", "text"],
  ["source", "text"],
  ["amount", "bigint"],
  ["expires_at_ms", "bigint"],
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

const OPENING: readonly Column[] = [...COUNTER_KEY, ["used", "bigint"]];

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
  ["each_kind", "text"],
];

const STALE_KEY: readonly Column[] = [
  ["wallet_id", "text"],
  ["start_ms", "bigint"],
];

const CREATED: Column = ["created_at_ms", "bigint"];

/**
 * The row types that batches are sent as, with their fields in order. The migrations create them. Programs of earlier
 * versions, which may run beside this one, send batch_hold, batch_hold_end, batch_limit, batch_wallet and batch_transfer.
 */
export const ROW_TYPES = {
  batch_credit_wallet: [...WALLET_KEY, ...WALLET, CREATED],
  batch_scoped_hold: [...HOLD_KEY, ...STATE, ...REQUEST],
  batch_hold_state: [...HOLD_KEY, ...STATE],
  batch_hold_outcome: [...HOLD_KEY, ...STATE, ...RESOLUTION],
  batch_credit_transfer: TRANSFER,
  batch_credit: [...CREDIT_KEY, ...CREDIT, ...GRANT],
  batch_counter: [...COUNTER_KEY, ...COUNTER],
  batch_bound_limit: [...LIMIT_KEY, ...LIMIT],
  batch_stale_hour: [...STALE_KEY, ["changes", "bigint"]],
  batch_export_end: HOLD_KEY,
} as const satisfies Record<string, readonly Column[]>;

/** The writes of a batch, by the kind of their rows. Each takes its rows as an array of a row type. */
const WRITES = {
  newWallets: insert("wallets", "batch_credit_wallet"),
  wallets: update("wallets", "batch_credit_wallet", { key: WALLET_KEY, set: WALLET }),
  newHolds: insert("holds", "batch_scoped_hold"),
  holds: update("holds", "batch_hold_state", { key: HOLD_KEY, set: STATE }),
  resolutions: update("holds", "batch_hold_outcome", { key: HOLD_KEY, set: [...STATE, ...RESOLUTION] }),
  transfers: insert("transfers", "batch_credit_transfer"),
  counters: upsert("limit_counters", "batch_counter", { key: COUNTER_KEY, set: COUNTER }),
  limits: upsert("spend_limits", "batch_bound_limit", { key: LIMIT_KEY, set: LIMIT }),
  staleHours: (rows: string) => `${insert("usage_stale", "batch_stale_hour")(rows)}
    ON CONFLICT (${namesOf(STALE_KEY)}) DO UPDATE SET changes = usage_stale.changes + 1`,
  unchargedEnds: insert("export_ends", "batch_export_end"),
  credits: upsert("credits", "batch_credit", { key: CREDIT_KEY, set: [...CREDIT, ["amount", "bigint"]] }),
  boundHolds: update("holds", "batch_scoped_hold", { key: HOLD_KEY, set: [["limits", "json"]] }),
  openings: (rows: string) => `INSERT INTO dropped_counters AS d (${namesOf(OPENING)})
    SELECT ${namesOf(OPENING)} FROM unnest(${rows}::batch_counter[])
    ON CONFLICT (${namesOf(COUNTER_KEY)}) DO UPDATE SET used = d.used + excluded.used`,
};

export type RowKind = keyof typeof WRITES;

/**
 * Returns one statement that writes rows of these kinds. No two kinds may write the same row. Parameters: the
 * rows of each kind, then the number of all rows. Fails by a division by zero unless every row was written:
 * otherwise rows changed after they were read.
 */
export const writeStatementOf = cached((kinds) => {
  const { writes, isWritten } = joinWrites(kinds, WRITES);
  return `${writes} SELECT 1 / (${isWritten})::integer`;
});

/** The most milliseconds between the time that a batch assumed and the database's clock. */
export const CLOCK_OFF_MAX_MS = 1_000;

/**
 * As {@link writeStatementOf}, for rows that were decided from memory. Further parameters: the versions of the
 * wallets, in the order of their rows; both columns of the fence; the time assumed, or null for any. Fails by a
 * division by zero unless all are as assumed. Returns the new version of the wallets and the database's clock.
 */
export const checkedStatementOf = cached((kinds) => {
  const versions = kinds.length + 2;
  const { writes, isWritten } = joinWrites(kinds, {
    ...WRITES,
    ...KEPT,
    wallets: updateOfVersions(`$${versions}`),
  });
  const isFence = `EXISTS (SELECT 1 FROM usage_fence
    WHERE fence_ms = $${versions + 1}::bigint AND records_ends = $${versions + 2}::bigint)`;
  const offMs = `abs(extract(epoch FROM statement_timestamp()) * 1000 - $${versions + 3}::bigint)`;
  return `${writes} SELECT
    1 / (${isWritten} AND ${isFence} AND coalesce(${offMs} < ${CLOCK_OFF_MAX_MS}, true))::integer,
    pg_current_xact_id()::xid::text AS version, (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now_ms`;
});

/** Returns a function that makes the statement of equal kinds once. */
function cached(make: (kinds: readonly RowKind[]) => string): (kinds: readonly RowKind[]) => string {
  const statements = new Map<string, string>();
  return (kinds) => {
    const key = kinds.join();
    let statement = statements.get(key);
    if (statement === undefined) {
      statement = make(kinds);
      statements.set(key, statement);
    }
    return statement;
  };
}

/**
 * Returns the writes, and the condition that each row was written. The server runs the writes in the order in which
 * the condition counts their rows: wallets first, whose locks protect all other rows.
 */
function joinWrites(
  kinds: readonly RowKind[],
  writeOf: Readonly<Record<RowKind, Write>>,
): { readonly writes: string; readonly isWritten: string } {
  const writes = kinds.map((kind, i) => `written${i} AS (${writeOf[kind](`$${i + 1}`)} RETURNING 1)`);
  const counts = kinds.map((_, i) => `(SELECT count(*) FROM written${i})`);
  return {
    writes: `WITH ${writes.join(", ")}`,
    isWritten: `(${counts.join(" + ")} = $${kinds.length + 1}::bigint)`,
  };
}

/**
 * Updates of holds that are open, and that were not extended further: programs of earlier versions do so without
 * writing the wallet's row. Within CASE, or else the planner would read all open holds by their index.
 */
const ofKept = (write: Write): Write => {
  const isKept =
    "CASE t.state WHEN 'held' THEN t.accrued <= r.accrued AND t.expires_at_ms <= r.expires_at_ms END";
  return (rows) => `${write(rows)} AND ${isKept}`;
};
const KEPT = { holds: ofKept(WRITES.holds), resolutions: ofKept(WRITES.resolutions) };

/** Updates the wallets that still have the version of their row's place in `versions`. */
function updateOfVersions(versions: string): Write {
  const assigned = WALLET.map(([name]) => `${name} = r.${name}`);
  const columns = namesOf(ROW_TYPES.batch_credit_wallet);
  return (rows) => `UPDATE wallets AS t SET ${assigned.join(", ")}
    FROM ROWS FROM (unnest(${rows}::batch_credit_wallet[]), unnest(${versions}::xid[])) AS r (${columns}, version)
    WHERE t.wallet_id = r.wallet_id AND t.xmin = r.version`;
}

type RowType = keyof typeof ROW_TYPES;

interface UpdateColumns {
  readonly key: readonly Column[];
  readonly set: readonly Column[];
}

/** A statement that takes its rows from a parameter. */
type Write = (rows: string) => string;

function insert(table: string, type: RowType): Write {
  const columns = namesOf(ROW_TYPES[type]);
  return (rows) => `INSERT INTO ${table} (${columns}) SELECT ${columns} FROM unnest(${rows}::${type}[])`;
}

/** Inserts rows whose key is new; updates the other columns of existing rows. */
function upsert(table: string, type: RowType, { key, set }: UpdateColumns): Write {
  const insertion = insert(table, type);
  const replaced = set.map(([name]) => `${name} = excluded.${name}`);
  return (rows) => `${insertion(rows)} ON CONFLICT (${namesOf(key)}) DO UPDATE SET ${replaced.join(", ")}`;
}

function update(table: string, type: RowType, { key, set }: UpdateColumns): Write {
  const assigned = set.map(([name]) => `${name} = r.${name}`);
  const match = key.map(([name]) => `t.${name} = r.${name}`);
  return (rows) => `UPDATE ${table} AS t SET ${assigned.join(", ")}
    FROM unnest(${rows}::${type}[]) AS r WHERE ${match.join(" AND ")}`;
}

function namesOf(columns: readonly Column[]): string {
  return columns.map(([name]) => name).join(", ");
}
