import { createHmac } from "node:crypto";
import { readSharedSecret } from "../accounts/shared-secret.ts";
import type { Database } from "../db/database.ts";

/**
 * Returns the secret that signs the webhooks of a rule: "whsec_" and 43 characters. It is derived from one
 * shared value, so that no secret of a rule is stored.
 */
export async function readWebhookSecret(database: Database, ruleId: string): Promise<string> {
  const shared = await readSharedSecret(database, "webhook_secret");
  return `whsec_${createHmac("sha256", shared).update(`notice_rule:${ruleId}`).digest("base64url")}`;
}
