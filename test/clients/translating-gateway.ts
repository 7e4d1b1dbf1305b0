import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { type Json, objectAt } from "../support/strict-json.ts";

/** Model of an Anthropic upstream for OpenAI's clients, and of an OpenAI upstream for Anthropic's clients. */
export const CLAUDE = "claude";
export const GPT = "chat";

/** Starts a gateway for a test file, and creates clients whose model has an upstream of the other format. */
export function translatingGateway() {
  const gateway = gatewayForTests();
  const settings = () => ({ baseURL: `${gateway.url}/v1`, apiKey: gateway.secret, maxRetries: 0 });

  return {
    upstream: () => gateway.upstream,
    settings,
    openai: () => new OpenAI(settings()),
    anthropic: () => new Anthropic({ ...settings(), baseURL: gateway.url }),
    /** The AI SDK's model for Claude through chat completions. */
    compatible: () => createOpenAICompatible({ ...settings(), name: "tollgate", includeUsage: true })(CLAUDE),
    /** The AI SDK's model for GPT through messages. */
    claude: () => createAnthropic(settings())(GPT),
    /** The last body that the upstream received. */
    seen: (): Json => objectAt(JSON.parse(gateway.upstream.seen.at(-1)?.bodyText ?? ""), "a body"),
  };
}
