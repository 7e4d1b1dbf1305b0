import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SAMPLE_ANSWERS } from "../support/protocol-pairs/neutral-answer.ts";
import { answerNeutrally } from "../support/protocol-pairs/protocol-pair.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";
import { AI_SDK } from "./quadrants/ai-sdk.ts";
import { anthropic } from "./quadrants/anthropic.ts";
import { type Client, type Heard, heardBy, type Target } from "./quadrants/client.ts";
import { LANGCHAIN } from "./quadrants/langchain.ts";
import { openai } from "./quadrants/openai.ts";
import { responses } from "./quadrants/responses.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

const CLIENTS: readonly Client[] = [openai, responses, anthropic, ...AI_SDK, ...LANGCHAIN];

const CELLS = CLIENTS.flatMap((client) => [
  { client, name: client.name, upstream: "OpenAI", model: "chat", isTranslated: client.surface !== "chat" },
  {
    client,
    name: client.name,
    upstream: "Anthropic",
    model: "claude",
    isTranslated: client.surface !== "messages",
  },
]);

describe.each(CELLS)("$name before $upstream:", ({ client, model, isTranslated }) => {
  const target = (): Target => ({ url: gateway.url, secret: gateway.secret, model });

  test.each(Object.entries(SAMPLE_ANSWERS))("%s is understood, streamed and whole", async (_name, sample) => {
    gateway.upstream.on(model, answerNeutrally(sample));
    const expected = heardBy(client, sample);
    expect(await client.whole(target())).toEqual(expected);
    const streamed = await client.stream(target());
    if (client.name === "@langchain/anthropic") expectFirstUsage(streamed, expected, isTranslated);
    else expect(streamed).toEqual(expected);
  });
});

/**
 * LangChain takes the input of a stream from its start, where that of an OpenAI upstream can only be guessed, and
 * adds the output there, which Anthropic reports as 1, to that of the end.
 */
function expectFirstUsage(streamed: Heard, expected: Heard, isTranslated: boolean): void {
  const { usage } = streamed;
  expect({ ...streamed, usage: expected.usage }).toEqual(expected);
  if (!isTranslated) expect(usage).toEqual({ ...expected.usage, output: expected.usage.output + 1 });
  else {
    expect(usage.output).toBe(expected.usage.output);
    expect(usage.input).toBeWithin(1, 1_000);
  }
}
