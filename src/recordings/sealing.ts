import { createCipheriv, createDecipheriv, createHash, hkdfSync } from "node:crypto";
import { platform } from "../platform.ts";

/** A key of the operator, which no database holds. */
export interface MasterKey {
  /** 16 hex digits that tell keys apart and reveal nothing of them. */
  readonly id: string;
  readonly bytes: Buffer;
}

const MASTER_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const ID_CHARS = 16;
const ALGORITHM = "aes-256-gcm";
/** Names what the keys are derived for: another use of the same master key has other keys. */
const PURPOSE = "tollgate recording 1";

/** Reads 32 bytes in base64 or base64url; `undefined` for any other text. */
export function readMasterKey(text: string): MasterKey | undefined {
  if (!/^[\w+/-]{43}=?$/.test(text)) return undefined;
  const bytes = Buffer.from(text, "base64");
  if (bytes.byteLength !== MASTER_BYTES) return undefined;
  const id = createHash("sha256").update(`${PURPOSE} id`).update(bytes).digest("hex").slice(0, ID_CHARS);
  return { id, bytes };
}

/** Whose recording a data key is for. */
export interface SealedPlace {
  readonly accountId: string;
  readonly requestId: string;
  /** The salt of the API key, in base64. */
  readonly salt: string;
}

/** Derives the key of one recording. Without the salt in the database or the master key outside of it there is none. */
export function deriveDataKey({ bytes }: MasterKey, { accountId, requestId, salt }: SealedPlace): Uint8Array {
  const info = `${PURPOSE} ${accountId} ${requestId}`;
  return new Uint8Array(hkdfSync("sha256", bytes, Buffer.from(salt, "base64"), info, MASTER_BYTES));
}

/** Encrypts bytes as base64 of nonce, tag and ciphertext. */
export function seal(dataKey: Uint8Array, plain: Uint8Array): string {
  const nonce = platform.randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, dataKey, nonce);
  const text = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), text]).toString("base64");
}

/** Decrypts what {@link seal} returned; `undefined` with another key, and for changed bytes. */
export function unseal(dataKey: Uint8Array, sealed: string): Buffer | undefined {
  const bytes = Buffer.from(sealed, "base64");
  if (bytes.byteLength < NONCE_BYTES + TAG_BYTES) return undefined;
  const decipher = createDecipheriv(ALGORITHM, dataKey, bytes.subarray(0, NONCE_BYTES));
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
  } catch {
    return undefined;
  }
}

const NO_KEYS: readonly string[] = [];

/** Returns the keys of the operator as they are configured now. They are decoded once for each configuration. */
export function createMasterKeys(
  configured: () => readonly string[] | undefined,
): () => readonly MasterKey[] {
  let known: { readonly texts: readonly string[]; readonly keys: readonly MasterKey[] } | undefined;
  return () => {
    const texts = configured() ?? NO_KEYS;
    if (known?.texts !== texts) known = { texts, keys: texts.flatMap((text) => readMasterKey(text) ?? []) };
    return known.keys;
  };
}
