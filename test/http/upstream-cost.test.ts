import { describe, expect, test } from "bun:test";
import { COMMAND_LINE } from "../../src/accounts/audit-trail.ts";
import { setMarkup } from "../../src/accounts/markup.ts";
import { scalePrice } from "../../src/domain/model.ts";
import { parseMarkup } from "../../src/domain/money.ts";
import { CHAT, post } from "../support/client.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { answerWith } from "../support/scripted-answers.ts";
import { scriptedModel, scriptedRoute, TEST_PRICE } from "../support/test-catalog.ts";

const COST = scalePrice(TEST_PRICE, parseMarkup("0.5"));
const priced = scriptedModel("priced", "openai", {
  cost: COST,
  routes: [scriptedRoute("scripted-openai", "priced", { cost: COST })],
});

const gateway = gatewayForTests({ models: [priced, scriptedModel("unknown", "openai")] });

/** 11 input tokens at 1,000 nano-USD and 7 output tokens at 2,000, which cost the operator half as much. */
async function ask(model: string, secret = gateway.secret) {
  gateway.upstream.on(model, answerWith({ text: "Hello there, friend.", usage: { input: 11, output: 7 } }));
  const response = await post(gateway, CHAT, { model, secret });
  await response.text();
  return response;
}

describe("the upstream cost of a request", () => {
  test("is on its receipt for operators, and nowhere in what its client gets", async () => {
    const response = await ask("priced");
    expect(response.headers.get("x-tollgate-cost-usd")).toBe("0.000025");
    const receipt = await gateway.receiptOf(response);
    expect(receipt).toMatchObject({ captured: 25_000n, outcome: { upstreamCost: 12_500n } });
    const id = response.headers.get("x-request-id");
    const shown = await fetch(`${gateway.url}/v1/receipts/${id}`, {
      headers: { authorization: `Bearer ${gateway.secret}` },
    });
    const text = await shown.text();
    expect(JSON.parse(text)).toMatchObject({ charged_usd: "0.000025" });
    for (const hidden of [text, await modelsText(gateway.secret)]) {
      expect(hidden).not.toContain("upstream_cost");
      expect(hidden).not.toContain('"cost');
    }
  });

  test("is unknown for a model without a cost", async () => {
    const receipt = await gateway.receiptOf(await ask("unknown"));
    expect(receipt.captured).toBe(25_000n);
    expect(receipt.outcome?.upstreamCost).toBeUndefined();
  });

  test("is the base of the account's markup, which a model of unknown cost ignores", async () => {
    const { key, secret } = await gateway.newPayer("10");
    const { accountId } = key;
    const parts = { database: gateway.tollgate.database, now: Date.now };
    await setMarkup(parts, COMMAND_LINE, { accountId, markup: parseMarkup("3"), reason: "contract" });
    const receipt = await gateway.receiptOf(await ask("priced", secret), accountId);
    expect(receipt).toMatchObject({ captured: 37_500n, outcome: { upstreamCost: 12_500n } });
    expect((await gateway.receiptOf(await ask("unknown", secret), accountId)).captured).toBe(25_000n);
    expect(await modelsText(secret)).toContain('"input":"1.50"');
  });
});

async function modelsText(secret: string): Promise<string> {
  const response = await fetch(`${gateway.url}/v1/models`, {
    headers: { authorization: `Bearer ${secret}` },
  });
  return response.text();
}
