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
const ID_PURPOSE = "tollgate recording 1 id";

/** Reads 32 bytes in base64 or base64url; `undefined` for any other text. */
export function readMasterKey(text: string): MasterKey | undefined {
  if (!/^[\w+/-]{43}=?$/.test(text)) return undefined;
  const bytes = Buffer.from(text, "base64");
  if (bytes.byteLength !== MASTER_BYTES) return undefined;
  const id = createHash("sha256").update(ID_PURPOSE).update(bytes).digest("hex").slice(0, ID_CHARS);
  return { id, bytes };
}

/** What a derived key is for: for another use of the same bytes, there is another key. */
interface KeyUse {
  readonly info: string;
  readonly salt?: Uint8Array | string | undefined;
}

/** Derives the key of one use. */
export function deriveKey(bytes: Uint8Array | string, { info, salt = "" }: KeyUse): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", bytes, salt, info, MASTER_BYTES));
}

/** Encrypts bytes as base64 of nonce, tag and ciphertext. With a place, they open for that alone. */
export function seal(dataKey: Uint8Array, plain: Uint8Array, place = ""): string {
  const nonce = platform.randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, dataKey, nonce).setAAD(Buffer.from(place));
  const text = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), text]).toString("base64");
}

/** Decrypts what {@link seal} returned; `undefined` with another key or place, and for changed bytes. */
export function unseal(dataKey: Uint8Array, sealed: string, place = ""): Buffer | undefined {
  const bytes = Buffer.from(sealed, "base64");
  if (bytes.byteLength < NONCE_BYTES + TAG_BYTES) return undefined;
  const decipher = createDecipheriv(ALGORITHM, dataKey, bytes.subarray(0, NONCE_BYTES));
  decipher.setAAD(Buffer.from(place)).setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
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
