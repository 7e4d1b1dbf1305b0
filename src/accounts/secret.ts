import { randomBytes } from "node:crypto";

const PREFIX = "sk-tg-";
const HINT_LENGTH = PREFIX.length + 4;
const SECRET = /^sk-tg-[\w-]{43}$/;

/** Creates a secret: the prefix and 32 random bytes in base64url. */
export function createSecret(): string {
  return PREFIX + randomBytes(32).toString("base64url");
}

/** Whether a text has the form of a secret. Texts of another form are neither hashed nor looked up. */
export function isSecret(text: string): boolean {
  return SECRET.test(text);
}

/** SHA-256 of a secret in hex, which is stored and looked up in place of the secret. */
export function digestOf(secret: string): string {
  return Bun.CryptoHasher.hash("sha256", secret, "hex");
}

/** First 10 characters of a secret, which may be displayed. */
export function hintOf(secret: string): string {
  return secret.slice(0, HINT_LENGTH);
}
