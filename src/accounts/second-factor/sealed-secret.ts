import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto";
import type { Database } from "../../db/database.ts";
import { platform } from "../../platform.ts";
import { readSharedSecret } from "../shared-secret.ts";

const CIPHER = "aes-256-gcm";
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** A secret of an authenticator app as the database has it. */
interface SealedSecret {
  readonly personId: string;
  readonly secret: string;
}

/** Encrypts the secret of a person's app. Under another person's id it cannot be opened. */
export async function sealSecret(database: Database, personId: string, bytes: Uint8Array): Promise<string> {
  return seal(await readKey(database, personId), personId, bytes);
}

/** Decrypts the secret of a person's app. */
export async function openSecret(database: Database, sealed: SealedSecret): Promise<Buffer> {
  return open(await readKey(database, sealed.personId), sealed);
}

/** The key is a row of the same database: it guards against a part of it, such as one table, and not against a whole dump. */
async function readKey(database: Database, personId: string): Promise<Buffer> {
  const shared = await readSharedSecret(database, "second_factor_key");
  return Buffer.from(hkdfSync("sha256", shared, personId, "tollgate second factor", 32));
}

function seal(key: Buffer, personId: string, bytes: Uint8Array): string {
  const iv = platform.randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, key, iv).setAAD(Buffer.from(personId));
  const sealed = [cipher.update(bytes), cipher.final()];
  return Buffer.concat([iv, cipher.getAuthTag(), ...sealed]).toString("base64");
}

function open(key: Buffer, { personId, secret }: SealedSecret): Buffer {
  const bytes = Buffer.from(secret, "base64");
  const tag = bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES);
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES));
  decipher.setAAD(Buffer.from(personId)).setAuthTag(tag);
  return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
}
