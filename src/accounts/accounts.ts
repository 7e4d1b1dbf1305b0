import { and, asc, eq, or, sql } from "drizzle-orm";
import type { Database, DatabaseParts, Db, Tables } from "../db/database.ts";
import type { BillingDetails } from "../domain/company.ts";
import type { Markup } from "../domain/money.ts";
import { GatewayError } from "../errors.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { platform } from "../platform.ts";
import { type AuditActor, type Change, COMMAND_LINE, recordChange } from "./audit-trail.ts";

/** The owner of keys and of one wallet. The wallet has the account's id. */
export interface Account {
  readonly id: string;
  /** Unique among accounts. */
  readonly name: string;
  readonly email: string | undefined;
  readonly state: "active" | "suspended";
  readonly createdAtMs: number;
  /** Increases with each change. */
  readonly version: number;
  /** The factor over upstream costs; `undefined` for the prices of the models. Only operators see it. */
  readonly markup?: Markup | undefined;
  /** The factor that comes with its plan, for an account without one of its own. */
  readonly planMarkup?: Markup | undefined;
  /** How receipts name end users. Default: by the text that was sent. */
  readonly endUsers?: "hashed" | "off" | undefined;
  /** The keys that tags of requests may have, sorted. Default: none. */
  readonly tagKeys?: readonly string[] | undefined;
  /** Whom its statements are for, beside its name. */
  readonly billing?: BillingDetails | undefined;
}

interface AccountParts {
  readonly database: Database;
  readonly ledger: Pick<Ledger, "createWallet">;
  readonly now?: () => number;
}

interface NewAccount {
  /** Unique, and equal to no account's id. */
  readonly name: string;
  readonly email?: string | undefined;
  /** Id of the person who becomes its owner. */
  readonly ownerId?: string | undefined;
}

interface CreateOptions {
  /** Default: the command line. */
  readonly actor?: AuditActor | undefined;
  /** Runs in the transaction that creates the account. */
  readonly created?: ((tx: Db, account: Account) => Promise<void>) | undefined;
}

/** Creates an account with an empty wallet. Rejects with `conflict` when the name is taken. */
export async function createAccount(
  { database, ledger, now = platform.now }: AccountParts,
  { name, email, ownerId }: NewAccount,
  { actor = COMMAND_LINE, created }: CreateOptions = {},
): Promise<Account> {
  if (await findAccount(database, name)) throw new GatewayError("conflict");
  const createdAtMs = now();
  const id = platform.uuidV7(createdAtMs);
  // The wallet comes first: a wallet without an account is harmless, an account without a wallet is not.
  await ledger.createWallet(id);
  const account: Account = { id, name, email, state: "active", createdAtMs, version: 1 };
  const { accounts, members } = database.tables;
  await database.transact(async (tx) => {
    const row = { id, name, email, createdAtMs };
    const inserted = await tx.insert(accounts).values(row).onConflictDoNothing().returning();
    if (inserted.length === 0) throw new GatewayError("conflict");
    if (ownerId !== undefined) {
      await tx.insert(members).values({ accountId: id, personId: ownerId, role: "owner", createdAtMs });
    }
    const change = { accountId: id, action: "account.created", target: id, after: { name, email, ownerId } };
    await recordChange(database, tx, actor, change, createdAtMs);
    await created?.(tx, account);
  });
  return account;
}

/** New values of an account; absent ones stay, and a null e-mail is removed. */
export interface AccountEdit {
  /** The version that the editor has read. */
  readonly version: number;
  readonly name?: string | undefined;
  readonly email?: string | null | undefined;
}

/** Thrown for an edit of an older version. */
export class EditConflict<Item> extends GatewayError {
  /** The item as it is now. */
  readonly current: Item;

  constructor(current: Item) {
    super("conflict");
    this.current = current;
  }
}

/**
 * Changes name and e-mail. Rejects with {@link EditConflict} for an older version, with `conflict` for a name
 * that is taken, and with `unknown_item`.
 */
export async function updateAccount(
  { database, now }: DatabaseParts,
  actor: AuditActor,
  accountId: string,
  { version, name, email }: AccountEdit,
): Promise<Account> {
  const { accounts } = database.tables;
  const taken = name === undefined ? undefined : await findAccount(database, name);
  if (taken && taken.id !== accountId) throw new GatewayError("conflict");
  const update = async (tx: Db) => {
    const before = await lockAccount(database, tx, accountId);
    if (!before) throw new GatewayError("unknown_item");
    if (before.version !== version) throw new EditConflict(before);
    const after = { ...(name === undefined ? {} : { name }), ...(email === undefined ? {} : { email }) };
    const [row] = await tx
      .update(accounts)
      .set({ ...after, version: version + 1 })
      .where(and(eq(accounts.id, accountId), eq(accounts.version, version)))
      .returning();
    if (!row) throw new EditConflict(before);
    const earlier = { name: before.name, email: before.email ?? null };
    const states = { before: earlier, after: { ...earlier, ...after } };
    const change = { accountId, action: "account.updated", target: accountId, ...states };
    await recordChange(database, tx, actor, change, now());
    return readAccount(row);
  };
  return database.transact(update).catch(async (fault: unknown) => {
    // Another account took the name after the check: the unique index refused the update.
    const winner = name === undefined ? undefined : await findAccount(database, name);
    throw winner && winner.id !== accountId ? new GatewayError("conflict", { reason: fault }) : fault;
  });
}

/** A change of columns and its audit entry. */
interface AccountChange {
  readonly columns: Partial<
    Pick<Tables["accounts"]["$inferInsert"], "state" | "markup" | "endUsers" | "tagKeys" | "billing">
  >;
  readonly entry: Change;
}

/**
 * Changes an account with its audit entry, in one transaction. `describe` returns `undefined` for an account that
 * stays as it is. Rejects with `unknown_item`.
 */
export function changeAccount(
  { database, now }: DatabaseParts,
  actor: AuditActor,
  accountId: string,
  describe: (before: Account) => AccountChange | undefined,
): Promise<Account> {
  const { accounts } = database.tables;
  return database.transact(async (tx) => {
    const before = await lockAccount(database, tx, accountId);
    if (!before) throw new GatewayError("unknown_item");
    const change = describe(before);
    if (!change) return before;
    const columns = { ...change.columns, version: before.version + 1 };
    const [row] = await tx.update(accounts).set(columns).where(eq(accounts.id, accountId)).returning();
    await recordChange(database, tx, actor, change.entry, now());
    return row ? readAccount(row) : before;
  });
}

/**
 * Locks an account until the transaction ends, so that changes of its members and its state run one after the
 * other. Returns `undefined` for an unknown account.
 */
export async function lockAccount(
  { tables: { accounts } }: Database,
  tx: Db,
  accountId: string,
): Promise<Account | undefined> {
  const [row] = await tx
    .update(accounts)
    .set({ version: sql`${accounts.version}` })
    .where(eq(accounts.id, accountId))
    .returning();
  return row && readAccount(row);
}

/** Finds an account by its id or its name. The lookup is unambiguous, as no name equals an id. */
export async function findAccount(
  { db, tables: { accounts } }: Database,
  idOrName: string,
): Promise<Account | undefined> {
  const isMatch = or(eq(accounts.id, idOrName), eq(accounts.name, idOrName));
  const [row] = await db.select().from(accounts).where(isMatch);
  return row && readAccount(row);
}

/** Lists every account, oldest first. */
export async function listAccounts({ db, tables: { accounts } }: Database): Promise<readonly Account[]> {
  const order = [asc(accounts.createdAtMs), asc(accounts.id)];
  const rows = await db
    .select()
    .from(accounts)
    .orderBy(...order);
  return rows.map(readAccount);
}

/** Converts a row of the table to an account. */
export function readAccount({
  hasScopes: _,
  planModels: __,
  planMarkup,
  ...row
}: Tables["accounts"]["$inferSelect"]): Account {
  return {
    ...row,
    email: row.email ?? undefined,
    markup: readMarkup(row.markup),
    planMarkup: readMarkup(planMarkup),
    endUsers: row.endUsers ?? undefined,
    tagKeys: row.tagKeys ?? undefined,
    billing: row.billing ?? undefined,
  };
}

/** Converts the column of a markup. */
export function readMarkup(column: number | null): Markup | undefined {
  return column === null ? undefined : BigInt(column);
}
