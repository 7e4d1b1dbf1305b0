import { expect, test } from "bun:test";
import { COMMAND_LINE } from "../../src/accounts/audit-trail.ts";
import { scalePrice } from "../../src/domain/model.ts";
import { parseMarkup, parseUsd } from "../../src/domain/money.ts";
import type { Plan } from "../../src/domain/plan.ts";
import { command, subscribe } from "../../src/plans/plans.ts";
import { PRO } from "../plans/samples.ts";
import { CHAT, post } from "../support/client.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { answerWith } from "../support/scripted-answers.ts";
import { scriptedModel, scriptedRoute, TEST_PRICE } from "../support/test-catalog.ts";

const COST = scalePrice(TEST_PRICE, parseMarkup("0.5"));
const priced = scriptedModel("priced", "openai", {
  cost: COST,
  routes: [scriptedRoute("scripted-openai", "priced", { cost: COST })],
});
const PLAN: Plan = {
  ...PRO,
  grant: parseUsd("1"),
  models: ["priced"],
  markup: parseMarkup("4"),
  limits: [{ amount: parseUsd("0.0004"), period: "month" }],
};
const gateway = gatewayForTests({ models: [priced, scriptedModel("other", "openai")] });

/** 11 input tokens at 1,000 nano-USD and 7 output tokens at 2,000, which cost the operator half as much. */
async function ask(model: string, secret: string) {
  gateway.upstream.on(model, answerWith({ text: "Hello there, friend.", usage: { input: 11, output: 7 } }));
  const response = await post(gateway, CHAT, { model, secret, max_tokens: 7 });
  await response.text();
  return response;
}

const modelsOf = async (secret: string) => {
  const response = await fetch(`${gateway.url}/v1/models`, {
    headers: { authorization: `Bearer ${secret}` },
  });
  const { data } = (await response.json()) as { data: readonly { id: string }[] };
  return data.map(({ id }) => id);
};

test("a subscribed account spends its credit on the plan's models, at its markup and within its limit", async () => {
  const { key, secret } = await gateway.newPayer("0");
  const { accountId } = key;
  const { database, ledger } = gateway.tollgate;
  const parts = { database, ledger, now: Date.now };
  expect((await ask("priced", secret)).status).toBe(402);
  const { id } = await subscribe(parts, COMMAND_LINE, { accountId, plan: PLAN });
  const { secret: subscribed } = await gateway.newKey({ accountId });
  expect(await modelsOf(subscribed)).toEqual(["priced"]);
  expect((await ask("other", subscribed)).status).toBe(403);
  const charged = await ask("priced", subscribed);
  expect([charged.status, (await gateway.receiptOf(charged, accountId)).captured]).toEqual([200, 50_000n]);
  let limited = charged;
  for (let i = 0; i < 8 && limited.status === 200; i++) limited = await ask("priced", subscribed);
  expect([limited.status, limited.headers.get("x-tollgate-limit")]).toEqual([402, "account"]);
  await command(parts, COMMAND_LINE, { subscriptionId: id, command: { kind: "cancel", when: "now" } });
  const { secret: free } = await gateway.newKey({ accountId });
  expect(await modelsOf(free)).toEqual(["priced", "other"]);
  expect((await ask("other", free)).status).toBe(200);
  // The credit stays until its own end.
  expect((await gateway.receiptOf(await ask("priced", free), accountId)).captured).toBe(25_000n);
});
