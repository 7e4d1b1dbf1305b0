import { expect, test } from "bun:test";
import { CHAT, MESSAGES, post, RESPONSES, type Surface } from "../support/client.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { answerWith } from "../support/scripted-answers.ts";
import { scriptedModel } from "../support/test-catalog.ts";

/** The translated body of this many tools is several times as long as the original. */
const TOOLS = 300;
/** The highest price of an input token, in nano-USD. */
const INPUT_PRICE = 2_000n;
const BYTES_PER_TOKEN = 2;

const gateway = gatewayForTests({
  models: [scriptedModel("by-openai", "openai"), scriptedModel("by-anthropic", "anthropic")],
});

const namesOf = (more: (name: string) => object) =>
  Array.from({ length: TOOLS }, (_, index) => more(`t${index}`));

test.each<[string, Surface<string>, string, object]>([
  ["bare tools of messages", MESSAGES, "by-openai", { max_tokens: 1, tools: namesOf((name) => ({ name })) }],
  [
    "bare tools of chat",
    CHAT,
    "by-anthropic",
    { max_tokens: 1, tools: namesOf((name) => ({ type: "function", function: { name } })) },
  ],
  [
    "free-form tools of responses",
    RESPONSES,
    "by-anthropic",
    { max_output_tokens: 1, tools: namesOf((name) => ({ type: "custom", name })) },
  ],
  [
    "tools in a namespace of responses",
    RESPONSES,
    "by-openai",
    {
      max_output_tokens: 1,
      tools: [
        { type: "namespace", name: "n".repeat(50), tools: namesOf((name) => ({ type: "function", name })) },
      ],
    },
  ],
])("the hold for %s covers the length of their translation", async (_name, surface, model, members) => {
  gateway.upstream.on(model, answerWith());
  const response = await post(gateway, surface, { model, ...members });
  expect(response.status).toBe(200);
  const sent = gateway.upstream.seen.at(-1)?.bodyText ?? "";
  expect(sent.length).toBeGreaterThan(JSON.stringify(members).length);
  const { granted } = await gateway.receiptOf(response);
  expect(granted).toBeGreaterThanOrEqual(BigInt(Math.ceil(sent.length / BYTES_PER_TOKEN)) * INPUT_PRICE);
});
