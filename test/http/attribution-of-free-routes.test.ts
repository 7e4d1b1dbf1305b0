import { expect, test } from "bun:test";
import { setAttribution } from "../../src/accounts/attribution/settings.ts";
import { COMMAND_LINE } from "../../src/accounts/audit-trail.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";

const gateway = gatewayForTests();
const CHILD = { name: "run", spending_limit_usd: "1.00" };
const PROMPT = { model: "claude", messages: [{ role: "user", content: "Say hello." }] };
interface Route {
  readonly path: string;
  /** The body of a `POST`; without one, the route is read by `GET`. */
  readonly body?: object;
}
const ROUTES: readonly Route[] = [
  { path: "/v1/messages/count_tokens", body: PROMPT },
  { path: "/v1/models" },
  { path: "/v1/models/chat" },
  { path: "/v1/key" },
  { path: "/v1/key/children", body: CHILD },
  { path: "/v1/receipts/00000000-0000-7000-8000-000000000000" },
];
const WRONG = {
  "x-tollgate-user": "x".repeat(257),
  "x-tollgate-tags": "undeclared=1",
  "x-tollgate-run": "a b",
  "x-tollgate-max-cost-usd": "much",
};
const RIGHT = {
  "x-tollgate-user": "alice",
  "x-tollgate-tags": "feature=search",
  "x-tollgate-run": "nightly; max=0.000001",
  "x-tollgate-max-cost-usd": "0.000000001",
};

async function newPayer() {
  const payer = await gateway.newPayer("1", { allowsChildren: true });
  const { database } = gateway.tollgate;
  const { accountId } = payer.key;
  await setAttribution({ database, now: Date.now }, COMMAND_LINE, accountId, { tagKeys: ["feature"] });
  return payer;
}

function send(secret: string, { path, body }: Route, headers: Record<string, string>) {
  return fetch(`${gateway.url}${path}`, {
    method: body ? "POST" : "GET",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json", ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
}

test.each(ROUTES)("$path refuses a header of attribution that is not valid, by its name", async (route) => {
  const { secret } = await newPayer();
  for (const [name, value] of Object.entries(WRONG)) {
    const refused = await send(secret, route, { [name]: value });
    const { error } = (await refused.json()) as { readonly error: { readonly message: string } };
    expect([name, refused.status, error.message]).toEqual([
      name,
      400,
      `The request has a header that is not valid: ${name}`,
    ]);
  }
});

test.each(ROUTES)("$path counts for nobody: no hold, no run and no value of a tag", async (route) => {
  const { secret, key } = await newPayer();
  const { ledger, database } = gateway.tollgate;
  const answered = await send(secret, route, RIGHT);
  expect([200, 404]).toContain(answered.status);
  expect((await ledger.receipts({ walletId: key.accountId }, { size: 1 })).items).toEqual([]);
  const limits = await ledger.spendLimits(key.accountId);
  expect(limits.filter(({ scope }) => scope?.kind === "run")).toEqual([]);
  const { runs, tagValues } = database.tables;
  expect(await database.db.select().from(runs)).toEqual([]);
  expect(await database.db.select().from(tagValues)).toEqual([]);
});
