import { createHmac } from "node:crypto";

/**
 * The value of `tollgate-signature`: a time in Unix seconds, and the HMAC-SHA256 of `TIME.BODY` in hex. A
 * receiver computes it again with the shared secret, and refuses times that are minutes away.
 */
export function signBody(secret: string, body: string | Uint8Array, nowMs: number): string {
  const t = Math.floor(nowMs / 1_000);
  return `t=${t},v1=${createHmac("sha256", secret).update(`${t}.`).update(body).digest("hex")}`;
}
