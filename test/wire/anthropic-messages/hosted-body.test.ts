import { describe, expect, test } from "bun:test";
import { anthropicMessages } from "../../../src/wire/anthropic-messages/format.ts";
import { findFormatPair } from "../../../src/wire/format-pair.ts";
import { openaiChat } from "../../../src/wire/openai-chat/format.ts";

const OPTIONS = {
  model: "claude-opus-4-1",
  outputTokensMax: 100,
  outputLimitField: undefined,
  messagesHost: {
    version: "bedrock-2023-05-31",
    hasStreamFlag: false,
    betaNames: {},
    betasIn: "body" as const,
  },
  stream: true,
  traits: { reasoning: "none", sampling: true },
} as const;
const BODY =
  '{"model":"m", "stream":true,"max_tokens":500,"temperature":0.5,"messages":[{"role":"user","content":"Hi"}]}';

describe("a messages body for a host whose URL has the model", () => {
  test("passes through with the version and without model and stream flag", () => {
    const request = anthropicMessages.parseRequest(BODY);
    expect(anthropicMessages.printUpstreamRequest(request, OPTIONS)).toBe(
      '{"max_tokens":100,"temperature":0.5,"messages":[{"role":"user","content":"Hi"}],"anthropic_version":"bedrock-2023-05-31"}',
    );
  });

  test("is translated with the version and without model and stream flag", () => {
    const request = openaiChat.parseRequest(BODY);
    const session = findFormatPair(openaiChat, ["messages"])?.begin(request, request.readChat);
    expect(JSON.parse(session?.printUpstreamRequest(OPTIONS) ?? "")).toEqual({
      anthropic_version: "bedrock-2023-05-31",
      max_tokens: 100,
      temperature: 0.5,
      messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
    });
  });

  test("keeps the stream flag for a host that takes it", () => {
    const options = {
      ...OPTIONS,
      messagesHost: {
        version: "vertex-2023-10-16",
        hasStreamFlag: true,
        betaNames: {},
        betasIn: "header" as const,
      },
    };
    const printed = anthropicMessages.printUpstreamRequest(anthropicMessages.parseRequest(BODY), options);
    expect(JSON.parse(printed)).toMatchObject({ anthropic_version: "vertex-2023-10-16", stream: true });
    const request = openaiChat.parseRequest(BODY);
    const session = findFormatPair(openaiChat, ["messages"])?.begin(request, request.readChat);
    expect(JSON.parse(session?.printUpstreamRequest(options) ?? "").stream).toBe(true);
  });

  test("has the version of the host in place of the client's", () => {
    const own = BODY.replace("{", '{"anthropic_version":"x",');
    const printed = anthropicMessages.printUpstreamRequest(anthropicMessages.parseRequest(own), OPTIONS);
    expect(JSON.parse(printed).anthropic_version).toBe("bedrock-2023-05-31");
  });
});
