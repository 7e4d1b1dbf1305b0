import { createHmac, timingSafeEqual } from "node:crypto";

/** Seconds for which a code stands. */
const STEP_MS = 30_000;
/** Steps before and after the present one whose codes are accepted: clocks differ, and typing takes time. */
const STEPS_ASIDE = 1;
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Prints bytes in base 32 without padding, as authenticator apps read a secret. @see https://www.rfc-editor.org/rfc/rfc4648 */
export function printBase32(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  const groups = bits.match(/.{1,5}/g) ?? [];
  return groups.map((group) => ALPHABET[Number.parseInt(group.padEnd(5, "0"), 2)]).join("");
}

/** Returns the code of a step. @see https://www.rfc-editor.org/rfc/rfc6238 */
export function codeOf(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const digest = createHmac("sha1", secret).update(counter).digest();
  const offset = digest.readUInt8(digest.length - 1) & 0xf;
  const number = (digest.readUInt32BE(offset) & 0x7fffffff) % 1_000_000;
  return String(number).padStart(6, "0");
}

/** Returns the step of a code that stands now and is later than `lastStep`; `undefined` for any other code. */
export function findStep(
  secret: Uint8Array,
  code: string,
  { nowMs, lastStep }: { readonly nowMs: number; readonly lastStep: number },
): number | undefined {
  const present = Math.floor(nowMs / STEP_MS);
  let found: number | undefined;
  // Every step is compared, so that the duration of the check shows nothing of the code.
  for (let step = present - STEPS_ASIDE; step <= present + STEPS_ASIDE; step += 1) {
    if (step < 0) continue;
    const [expected, given] = [Buffer.from(codeOf(secret, step)), Buffer.from(code)];
    const isEqual = expected.length === given.length && timingSafeEqual(expected, given);
    if (isEqual && step > lastStep) found ??= step;
  }
  return found;
}

/** Returns the address that an authenticator app reads from a picture. */
export function printKeyUri(secret: Uint8Array, { host, email }: { host: string; email: string }): string {
  const issuer = `Tollgate ${host}`;
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(email)}`;
  return `otpauth://totp/${label}?secret=${printBase32(secret)}&issuer=${encodeURIComponent(issuer)}`;
}
