import { randomBytes } from "node:crypto";

const PREFIX = "sk-tg-";
const HINT_LENGTH = PREFIX.length + 4;
const SECRET = /^sk-tg-[\w-]{43}$/;

/** A new secret: the prefix and 32 random bytes in base64url. */
export function createSecret(): string {
  return PREFIX + randomBytes(32).toString("base64url");
}

/** Whether a text can be a secret at all, so that nothing else is hashed or looked up. */
export function isSecret(text: string): boolean {
  return SECRET.test(text);
}

/** What is stored and looked up instead of the secret: SHA-256 in hex. */
export function digestOf(secret: string): string {
  return Bun.CryptoHasher.hash("sha256", secret, "hex");
}

/** The head of a secret, which may be shown. */
export function hintOf(secret: string): string {
  return secret.slice(0, HINT_LENGTH);
}
