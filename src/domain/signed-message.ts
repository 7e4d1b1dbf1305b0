import { createHmac, timingSafeEqual } from "node:crypto";

/**
 * A message signed as Standard Webhooks has it.
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export interface SignedMessage {
  /** The header `webhook-id`. */
  readonly id: string;
  /** The header `webhook-timestamp`: Unix seconds. */
  readonly timestamp: string;
  /** The header `webhook-signature`: "v1,BASE64", several between blanks. */
  readonly signature: string;
  /** The bytes as they were sent. */
  readonly body: Uint8Array;
}

/** "whsec_" and 24 to 64 bytes in base64. */
export const SIGNING_SECRET =
  "^whsec_(?:[A-Za-z0-9+/]{4}){8,21}(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)?$";

const ID = /^[\w.:-]{1,128}$/;
const TIMESTAMP = /^[1-9]\d{0,11}$/;
const TOLERANCE_S = 300;
const DIGEST = /^[A-Za-z0-9+/]{43}=$/;
const VERSION = /^v1[a-z]?,/;
const SIGNATURES_MAX = 8;

/**
 * Whether one of the signatures is by one of the secrets, and the time within 5 minutes of `nowMs`. A header that was
 * sent twice is refused: it arrives as one text with ", " inside.
 */
export function isGenuine(message: SignedMessage, secrets: readonly string[], nowMs: number): boolean {
  const { id, timestamp, body } = message;
  if (!ID.test(id) || !TIMESTAMP.test(timestamp)) return false;
  if (Math.abs(nowMs - Number(timestamp) * 1_000) > TOLERANCE_S * 1_000) return false;
  const given = readSignatures(message.signature);
  const expected = secrets.map((secret) => createHmac("sha256", keyOf(secret)));
  const digests = expected.map((hmac) => hmac.update(`${id}.${timestamp}.`).update(body).digest());
  // Every pair is compared, so that the time shows neither which secret nor which signature fits.
  const pairs = given.flatMap((one) => digests.map((digest) => isEqual(one, digest)));
  return pairs.includes(true);
}

/** Returns the signatures of version 1; none of a header that has a malformed part, or too many. */
function readSignatures(header: string): readonly Buffer[] {
  const parts = header.split(" ");
  if (parts.length > SIGNATURES_MAX || !parts.every((part) => VERSION.test(part))) return [];
  const digests = parts.filter((part) => part.startsWith("v1,")).map((part) => part.slice("v1,".length));
  return digests.every((digest) => DIGEST.test(digest))
    ? digests.map((digest) => Buffer.from(digest, "base64"))
    : [];
}

function keyOf(secret: string): Buffer {
  return Buffer.from(secret.slice("whsec_".length), "base64");
}

function isEqual(one: Buffer, other: Buffer): boolean {
  return one.byteLength === other.byteLength && timingSafeEqual(one, other);
}
