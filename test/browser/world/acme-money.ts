import { parseUsd } from "../../../src/domain/money.ts";
import type { World } from "./world.ts";

/** Calls a model with a key, as a program does. */
export function askModel({ url }: World, secret: string): Promise<Response> {
  const messages = [{ role: "user", content: "Which plan fits a team of four?" }];
  return fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "gpt-4.1-mini", messages, max_tokens: 50 }),
  });
}

/** Returns what is posted in Acme's wallet, in nanos. */
export async function readPosted({ owner, acme }: World): Promise<bigint> {
  return parseUsd((await owner.call("GET", `/accounts/${acme.accountId}/wallet`)).posted_usd);
}
