import { describe, expect, test } from "bun:test";
import { answerNeutrally } from "../support/format-pairs/format-pair.ts";
import { SAMPLE_ANSWERS } from "../support/format-pairs/neutral-answer.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { AI_SDK } from "./libraries/ai-sdk.ts";
import { anthropic } from "./libraries/anthropic.ts";
import { type Client, expectedAnswer, type ReadAnswer, type Target } from "./libraries/client.ts";
import { LANGCHAIN } from "./libraries/langchain.ts";
import { openai } from "./libraries/openai.ts";
import { responses } from "./libraries/responses.ts";

const gateway = gatewayForTests();

const CLIENTS: readonly Client[] = [openai, responses, anthropic, ...AI_SDK, ...LANGCHAIN];

const CASES = CLIENTS.flatMap((client) => [
  { client, name: client.name, upstream: "OpenAI", model: "chat", isTranslated: client.surface !== "chat" },
  {
    client,
    name: client.name,
    upstream: "Anthropic",
    model: "claude",
    isTranslated: client.surface !== "messages",
  },
]);

describe.each(CASES)("$name with an upstream of $upstream", ({ client, model, isTranslated }) => {
  const target = (): Target => ({ url: gateway.url, secret: gateway.secret, model });

  test.each(Object.entries(SAMPLE_ANSWERS))(
    "reads %s correctly, streamed and whole",
    async (_name, sample) => {
      gateway.upstream.on(model, answerNeutrally(sample));
      const expected = expectedAnswer(client, sample);
      expect(await client.whole(target())).toEqual(expected);
      const streamed = await client.stream(target());
      if (client.name === "@langchain/anthropic") expectFirstUsage(streamed, expected, isTranslated);
      else expect(streamed).toEqual(expected);
    },
  );
});

/**
 * LangChain takes the input tokens of a stream from its start, where those of an OpenAI upstream are a guess.
 * It adds the output tokens of the start, which Anthropic reports as 1, to those of the end.
 */
function expectFirstUsage(streamed: ReadAnswer, expected: ReadAnswer, isTranslated: boolean): void {
  const { usage } = streamed;
  expect({ ...streamed, usage: expected.usage }).toEqual(expected);
  if (!isTranslated) expect(usage).toEqual({ ...expected.usage, output: expected.usage.output + 1 });
  else {
    expect(usage.output).toBe(expected.usage.output);
    expect(usage.input).toBeWithin(1, 1_000);
  }
}
