import { answerWith } from "../../support/scripted-answers.ts";
import { furnishProjects, type ProjectFurniture } from "./furnish-projects.ts";
import { furnishRecordings, type RecordingFurniture } from "./furnish-recordings.ts";
import type { World } from "./world.ts";

/** What a furnished world adds, for links to its pages. */
export interface Furniture extends ProjectFurniture, RecordingFurniture {
  /** A key with limits, which has been refused requests. */
  readonly limitedKeyId: string;
  /** A request that was answered, and one that was refused. */
  readonly answeredId: string;
  readonly refusedId: string;
  /** Path of a shared link, "/console/shared/…". */
  readonly sharedPath: string;
  /** Path of an open invitation with its token, "/console/accept?token=…". */
  readonly acceptPath: string;
}

/** Adds what the past traffic lacks: limits, refusals, invitations, codes, rules, links and management keys. */
export async function furnish(world: World): Promise<Furniture> {
  const { owner, operator, acme, url } = world;
  const at = `/accounts/${acme.accountId}`;
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
  const { key, secret } = await owner.call("POST", `${at}/keys`, {
    name: "mobile app",
    requests_per_minute: 3,
    spending_limit: { amount_usd: "0.02", period: "day" },
    expires_at: inDays(60),
  });
  await grantCredits(world);
  const ids = await sendRequests(world, secret);
  const ofProjects = await furnishProjects(world);
  const ofRecordings = await furnishRecordings(world);
  const invited = "new.person@example.com";
  const { link } = await owner.call("POST", `${at}/invitations`, { email: invited, role: "developer" });
  await owner.call("POST", `${at}/management-keys`, { name: "provisioning", role: "developer" });
  await owner.call("POST", `${at}/notice-rules`, {
    ...{ kind: "balance_below", threshold: "50.00", emails: ["dana@example.com"], webhook_url: null },
  });
  const { id: rule } = await owner.call("POST", `${at}/notice-rules`, {
    ...{ kind: "key_limit", threshold: "80", emails: ["dana@example.com"] },
    webhook_url: "https://hooks.tollgate.invalid/notices",
  });
  await owner.call("POST", `${at}/notice-rules`, {
    ...{ kind: "subject_limit", threshold: "90", emails: ["dana@example.com"], webhook_url: null },
  });
  await owner.call("POST", `${at}/notice-rules/${rule}/test`);
  const { url: shared } = await owner.call("POST", `${at}/links`, {
    shows_names: true,
    expires_at: inDays(14),
  });
  await operator.call("POST", "/operator/codes", { amount_usd: "25.00", count: 3, note: "conference" });
  await operator.call("POST", `/operator/accounts/${world.northwind.accountId}/suspend`, {
    reason: "chargeback",
  });
  await operator.call("POST", "/operator/audit");
  const invitation = new URL(link);
  const acceptPath = invitation.pathname + invitation.search;
  return {
    limitedKeyId: key.id,
    ...ids,
    ...ofProjects,
    ...ofRecordings,
    sharedPath: new URL(shared, url).pathname,
    acceptPath,
  };
}

/** Sends requests until the key's limit of 3 per minute refuses one, and one that its spending limit refuses. */
async function sendRequests({ url, upstream }: World, secret: string) {
  upstream.on(
    "gpt-4.1-mini",
    answerWith({ text: "A short and helpful answer.", usage: { input: 420, output: 64 } }),
  );
  const send = async (body: object) => {
    const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    await answer.text();
    return { id: answer.headers.get("x-request-id") ?? "", status: answer.status };
  };
  const messages = [{ role: "user", content: "Which of our plans fits a team of four?" }];
  const answered = await send({ model: "gpt-4.1-mini", messages, max_tokens: 200 });
  const refused = await send({ model: "claude-sonnet", messages, max_tokens: 32_000 });
  for (let count = 0; count < 4; count++) await send({ model: "gpt-4.1-mini", messages, max_tokens: 200 });
  return { answeredId: answered.id, refusedId: refused.id };
}

/** A promotion that has ended already, and one that ends in three days. */
async function grantCredits({ operator, acme }: World): Promise<void> {
  const grant = (id: string, amount_usd: string, ms: number) =>
    operator.call("POST", `/operator/accounts/${acme.accountId}/top-ups`, {
      ...{ id, amount_usd, source: "promotion", reason: "welcome" },
      expires_at: new Date(Date.now() + ms).toISOString(),
    });
  // A busy machine may be slower than the time that is left: a credit that would end before it is granted is refused.
  const grantShortly = async (ms: number): Promise<void> => {
    await grant("welcome-2026", "1.50", ms).then(
      () => Bun.sleep(ms),
      (fault) => (ms < 60_000 ? grantShortly(2 * ms) : Promise.reject(fault)),
    );
  };
  await grantShortly(1_000);
  await grant("spring-promotion", "3.20", 3 * 86_400_000);
}
