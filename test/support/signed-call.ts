import { createHmac } from "node:crypto";

/** A caller of signed calls, as the configuration has it. */
export const CALLER_SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

interface Signing {
  readonly secret?: string;
  readonly atMs?: number;
  readonly id?: string;
}

/** The headers of Standard Webhooks for a body, made apart from the code that checks them. */
export function signCall(
  body: string,
  { secret = CALLER_SECRET, atMs = Date.now(), id = "msg_1" }: Signing = {},
) {
  const timestamp = String(Math.floor(atMs / 1_000));
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  const digest = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${digest}` };
}
