// Secrets that all processes of a database share. With SEALING_KEYS, a dump of the database has ciphertext alone.
import { and, eq, inArray } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { deriveKey, type MasterKey, seal, unseal } from "../db/sealing.ts";
import { createToken } from "./keys/key.ts";

const NAMES = ["console_cookie_secret", "end_user_secret", "second_factor_key", "webhook_secret"] as const;
type SecretName = (typeof NAMES)[number];

/** No secret in the clear has colons. */
const SEALED = /^sealed:([0-9a-f]{16}):(.+)$/;

/** The key that sealed a secret of the database is not among those of the environment. */
export class LostKeyError extends Error {
  constructor(name: string, keyId: string) {
    super(
      `SEALING_KEYS lacks the key ${keyId}, with which ${name} is sealed in the database: add it again. ` +
        "If it is lost, `bun tollgate secrets renew` replaces what it sealed.",
    );
  }
}

/**
 * Returns a secret of 43 characters that all processes of one database share. The first process that needs it
 * creates its row. Rejects with {@link LostKeyError}.
 */
export async function readSharedSecret(database: Database, name: SecretName): Promise<string> {
  const stored = await find(database, name);
  if (stored) return open(database, stored);
  const { transact, tables } = database;
  const row = { name, value: sealFor(database.masterKeys(), name, createToken()) };
  await transact(async (tx) => {
    await tx.insert(tables.sharedValues).values(row).onConflictDoNothing();
  });
  const winner = await find(database, name);
  if (!winner) throw new Error(`The shared secret ${name} was deleted while it was created`);
  return open(database, winner);
}

/** Returns the secret that signs session cookies. Changing its row signs everybody out. */
export function readCookieSecret(database: Database): Promise<string> {
  return readSharedSecret(database, "console_cookie_secret");
}

/**
 * Seals every stored secret with the first key, also those in the clear and those that a former key sealed. Several
 * processes may do so at once. Rejects with {@link LostKeyError}.
 */
export async function sealSharedSecrets(database: Database): Promise<void> {
  const { transact, masterKeys, tables } = database;
  const { sharedValues } = tables;
  const [first] = masterKeys();
  for (const row of await list(database)) {
    const secret = open(database, row);
    if (!first || row.value.startsWith(`sealed:${first.id}:`)) continue;
    const value = sealFor([first], row.name, secret);
    const isSame = and(eq(sharedValues.name, row.name), eq(sharedValues.value, row.value));
    await transact(async (tx) => {
      await tx.update(sharedValues).set({ value }).where(isSame);
    });
  }
}

/** Deletes the secrets that no key opens: new ones are made when they are needed. Returns their names. */
export async function dropLostSecrets(database: Database): Promise<readonly string[]> {
  const { transact, tables } = database;
  const lost = (await list(database)).filter((row) => {
    const [, keyId] = SEALED.exec(row.value) ?? [];
    return keyId !== undefined && !database.masterKeys().some(({ id }) => id === keyId);
  });
  const { sharedValues } = tables;
  await transact(async (tx) => {
    // Another process may have made a new one since.
    for (const { name, value } of lost) {
      await tx.delete(sharedValues).where(and(eq(sharedValues.name, name), eq(sharedValues.value, value)));
    }
  });
  return lost.map(({ name }) => name);
}

interface StoredSecret {
  readonly name: string;
  readonly value: string;
}

async function list({ db, tables: { sharedValues } }: Database): Promise<readonly StoredSecret[]> {
  return db
    .select()
    .from(sharedValues)
    .where(inArray(sharedValues.name, [...NAMES]));
}

async function find(
  { db, tables: { sharedValues } }: Database,
  name: SecretName,
): Promise<StoredSecret | undefined> {
  const [row] = await db.select().from(sharedValues).where(eq(sharedValues.name, name));
  return row;
}

function sealFor([master]: readonly MasterKey[], name: string, secret: string): string {
  if (!master) return secret;
  return `sealed:${master.id}:${seal(keyOf(master), Buffer.from(secret), name)}`;
}

function open({ masterKeys }: Database, { name, value }: StoredSecret): string {
  const [, keyId, sealed] = SEALED.exec(value) ?? [];
  if (keyId === undefined || sealed === undefined) return value;
  const master = masterKeys().find(({ id }) => id === keyId);
  const opened = master && unseal(keyOf(master), sealed, name);
  if (!opened) throw new LostKeyError(name, keyId);
  return opened.toString();
}

function keyOf({ bytes }: MasterKey): Uint8Array {
  return deriveKey(bytes, { info: "tollgate shared secret 1" });
}
