import { afterAll, beforeAll, beforeEach } from "bun:test";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { type Json, objectAt } from "../../support/strict-json.ts";
import { startTestGateway, type TestGateway } from "../../support/test-gateway.ts";

/** The model that Anthropic answers, for clients of OpenAI; and the other way round. */
export const CLAUDE = "claude";
export const GPT = "chat";

/** Starts a gateway for a file of tests, and makes libraries whose models speak the other format. */
export function crossingForFile() {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway();
  });
  beforeEach(() => gateway.upstream.reset());
  afterAll(() => gateway.stop());
  const settings = () => ({ baseURL: `${gateway.url}/v1`, apiKey: gateway.secret, maxRetries: 0 });

  return {
    upstream: () => gateway.upstream,
    settings,
    openai: () => new OpenAI(settings()),
    anthropic: () => new Anthropic({ ...settings(), baseURL: gateway.url }),
    /** The AI SDK's way to Claude through chat completions. */
    compatible: () => createOpenAICompatible({ ...settings(), name: "tollgate", includeUsage: true })(CLAUDE),
    /** And its way to GPT through messages. */
    claude: () => createAnthropic(settings())(GPT),
    /** The body that the upstream has seen last. */
    seen: (): Json => objectAt(JSON.parse(gateway.upstream.seen.at(-1)?.bodyText ?? ""), "a body"),
  };
}
