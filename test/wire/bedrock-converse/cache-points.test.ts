import { expect, test } from "bun:test";
import { findFormatPair } from "../../../src/wire/format-pair.ts";
import { openaiChat } from "../../../src/wire/openai-chat/format.ts";

const LONG = "Rules of the house. ".repeat(300);

function printFor(model: string, marksPrefixes: boolean) {
  const messages = [
    { role: "system", content: LONG },
    { role: "user", content: "One?" },
    { role: "assistant", content: "One." },
    { role: "user", content: "Two?" },
  ];
  const request = openaiChat.parseRequest(JSON.stringify({ model: "m", messages }));
  const session = findFormatPair(openaiChat, ["converse"])?.begin(request, request.readChat);
  const traits = { reasoning: "none", sampling: true } as const;
  const options = { model, outputTokensMax: 9, outputLimitField: undefined, stream: false, traits };
  return JSON.parse(session?.printUpstreamRequest({ ...options, marksPrefixes }) ?? "");
}

const isPoint = (block: object) => "cachePoint" in block;

test("automatic prompt caching sets cache points behind the system prompt and the last two user messages", () => {
  const { system, messages } = printFor("amazon.nova-pro-v1:0", true);
  expect(system.filter(isPoint)).toHaveLength(1);
  expect(messages.map(({ content }: { content: object[] }) => content.some(isPoint))).toEqual([
    true,
    false,
    true,
  ]);
});

test("a prompt has no cache point without automatic caching, and none for a model that caches no prompts", () => {
  expect(JSON.stringify(printFor("amazon.nova-pro-v1:0", false))).not.toContain("cachePoint");
  expect(JSON.stringify(printFor("meta.llama3-3-70b-instruct-v1:0", true))).not.toContain("cachePoint");
});
