// What the sign-in library sees of the database: its queries, without any session token in a row.
import type { AsyncLocalStorage } from "node:async_hooks";
import type { Database, Db } from "../../db/database.ts";
import { digestOf } from "../keys/key.ts";

/** Runs in the transaction of a change that the library makes, after its writes. */
export type FollowUp = (tx: Db) => Promise<void>;

interface Condition {
  readonly field: string;
  readonly value: unknown;
}

interface Query {
  readonly model: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly where?: readonly Condition[];
}

type Method = (query: Query) => Promise<unknown>;

const READS = ["count", "findMany", "findOne"];
const DELETES = ["delete", "deleteMany", "consumeOne"];
const WRITES = ["create", "update", "updateMany", "incrementOne", ...DELETES];

const ALIAS_HOST = "@hex.invalid";
const DIGEST = /^[0-9a-f]{64}$/;

/**
 * Returns the library's adapter over a database. Each write is a transaction of ours, so that the event loop
 * never waits for SQLite's lock. A transaction of the library is one of ours on both stores, and runs the
 * follow-up of its call. `over` creates the library's own adapter over a connection or a transaction.
 */
export function createSignInAdapter<Adapter extends object>(
  database: Database,
  over: (db: Db) => Adapter,
  followUps: AsyncLocalStorage<FollowUp>,
): Adapter {
  const overTx = (tx: Db) => withMethods(over(tx), [...READS, ...WRITES], withDigests);
  const reads = withMethods(over(database.db), READS, withDigests);
  const writes = withMethods(
    reads,
    WRITES,
    (_method, name) => (query) => database.transact((tx) => methodOf(overTx(tx), name)(query)),
  );
  const transaction = <Result>(work: (adapter: Adapter) => Promise<Result>): Promise<Result> =>
    database.transact(async (tx) => {
      const result = await work(overTx(tx));
      await followUps.getStore()?.(tx);
      return result;
    });
  return { ...writes, transaction };
}

/** The library checks addresses more strictly than we do (no `@localhost`): it sees an alias in hex. */
export function printAlias(email: string): string {
  return Buffer.from(email).toString("hex") + ALIAS_HOST;
}

function readAlias(email: string): string {
  return Buffer.from(email.slice(0, -ALIAS_HOST.length), "hex").toString();
}

function withMethods<Adapter extends object>(
  adapter: Adapter,
  names: readonly string[],
  change: (method: Method, name: string) => Method,
): Adapter {
  const changed = names.map((name) => [name, change(methodOf(adapter, name), name)]);
  return { ...adapter, ...Object.fromEntries(changed) };
}

function methodOf(adapter: object, name: string): Method {
  const method: unknown = Reflect.get(adapter, name);
  if (typeof method !== "function") throw new Error(`The sign-in library has no query "${name}"`);
  return (query) => method.call(adapter, query);
}

/** Replaces tokens and aliases on the way in, and puts them back into the row that comes out. */
function withDigests(method: Method, name: string): Method {
  const isDelete = DELETES.includes(name);
  return async (query) => {
    const token = tokenOf(query);
    const alias = query.where?.find(isAlias)?.value;
    const where = query.where?.map((each) => withoutToken(each, query.model, isDelete));
    const data = query.data && token !== undefined ? { ...query.data, token: digestOf(token) } : query.data;
    const answer = await method({ ...query, ...(where && { where }), ...(data && { data }) });
    if (token !== undefined) return restore(answer, "token", { stored: digestOf(token), shown: token });
    if (typeof alias === "string") {
      return restore(answer, "email", { stored: readAlias(alias), shown: alias });
    }
    return answer;
  };
}

/** The token of a session that a query creates or finds. */
function tokenOf({ model, data, where = [] }: Query): string | undefined {
  if (model !== "session") return undefined;
  const token = data ? data.token : where.find(({ field }) => field === "token")?.value;
  return typeof token === "string" ? token : undefined;
}

/**
 * A digest is accepted in deletes alone, because the library ends sessions by rows that it has read. In other
 * queries a digest is hashed again, so that a stolen row opens no session.
 */
function withoutToken(condition: Condition, model: string, isDelete: boolean): Condition {
  const { field, value } = condition;
  if (isAlias(condition)) return { ...condition, value: readAlias(String(value)) };
  if (model !== "session" || field !== "token") return condition;
  const hash = (each: unknown) =>
    typeof each !== "string" || (isDelete && DIGEST.test(each)) ? each : digestOf(each);
  return { ...condition, value: Array.isArray(value) ? value.map(hash) : hash(value) };
}

function isAlias({ field, value }: Condition): boolean {
  return field === "email" && typeof value === "string" && value.endsWith(ALIAS_HOST);
}

/** The library compares a row with what it asked for: the row shows what was asked. */
function restore(
  answer: unknown,
  field: "token" | "email",
  { stored, shown }: { readonly stored: string; readonly shown: string },
): unknown {
  const isRow = typeof answer === "object" && answer !== null && field in answer;
  return isRow && Reflect.get(answer, field) === stored ? { ...answer, [field]: shown } : answer;
}
