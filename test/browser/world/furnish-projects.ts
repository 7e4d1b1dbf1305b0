import { answerWith } from "../../support/scripted-answers.ts";
import type { World } from "./world.ts";

/** What a project with traffic adds to a world, for links to its pages. */
export interface ProjectFurniture {
  readonly projectId: string;
  /** A key of the project that made another key. */
  readonly parentKeyId: string;
  /** A request for an end user with a tag, and one that the limit of each end user refused. */
  readonly attributedId: string;
  readonly overLimitId: string;
  /** Path of a shared link to the project, "/console/shared/…". */
  readonly sharedProjectPath: string;
}

const LINK_MS = 14 * 86_400_000;

/** Adds a project with a budget, a link to it, a key that made a key, requests of end users and one that their limit refused. */
export async function furnishProjects(
  { owner, acme, url, upstream }: World,
  name = "customer support",
): Promise<ProjectFurniture> {
  const at = `/accounts/${acme.accountId}`;
  const project = await owner.call("POST", `${at}/projects`, {
    name,
    spending_limit: { amount_usd: "25", period: "month" },
    end_user_limit: { amount_usd: "0.05", period: "day" },
  });
  await owner.call("PUT", `${at}/member-limits`, { spending_limit: { amount_usd: "50", period: "month" } });
  await owner.call("PATCH", `${at}/attribution`, { tag_keys: ["feature", "team"] });
  const { key, secret } = await owner.call("POST", `${at}/keys`, {
    name: `${name} bot`,
    project_id: project.id,
    allows_children: true,
    spending_limit: { amount_usd: "10", period: "month" },
  });
  const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
  const child = await fetch(`${url}/v1/key/children`, {
    method: "POST",
    headers,
    body: JSON.stringify({ name: "night run", spending_limit_usd: "2.00" }),
  });
  if (!child.ok) throw new Error(`no child: ${await child.text()}`);
  upstream.on("gpt-4.1-mini", answerWith({ text: "Gladly.", usage: { input: 4_200, output: 640 } }));
  const send = async (user: string, body: object) => {
    const attributed = { ...headers, "x-tollgate-user": user, "x-tollgate-tags": "feature=search" };
    const messages = [{ role: "user", content: "Where is my parcel?" }];
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: attributed,
      body: JSON.stringify({ ...body, messages }),
    });
    await answer.text();
    return answer.headers.get("x-request-id") ?? "";
  };
  const short = { model: "gpt-4.1-mini", max_tokens: 800 };
  const attributedId = await send("mallory@shop.example", short);
  for (const user of ["ines@shop.example", "ines@shop.example", "order-1187"]) await send(user, short);
  const overLimitId = await send("order-1187", { model: "claude-sonnet", max_tokens: 32_000 });
  const { url: shared } = await owner.call("POST", `${at}/links`, {
    project: project.id,
    shows_names: true,
    expires_at: new Date(Date.now() + LINK_MS).toISOString(),
  });
  const sharedProjectPath = new URL(shared, url).pathname;
  return { projectId: project.id, parentKeyId: key.id, attributedId, overLimitId, sharedProjectPath };
}
