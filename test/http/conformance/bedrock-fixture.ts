import { afterAll, beforeAll, beforeEach, expect } from "bun:test";
import {
  ACCESS_KEY_ID,
  API_KEY,
  type BedrockCall,
  REGION,
  type ScriptedBedrock,
  SECRET_ACCESS_KEY,
  startScriptedBedrock,
} from "../../support/bedrock/scripted-bedrock.ts";
import { CHAT, MESSAGES } from "../../support/client.ts";
import type { FormatPair } from "../../support/format-pairs/format-pair.ts";
import type { Json } from "../../support/strict-json.ts";
import { scriptedModel, scriptedRoute, scriptedUpstream } from "../../support/test-catalog.ts";
import { startTestGateway, type TestGateway } from "../../support/test-gateway.ts";

export const CLAUDE = "us.anthropic.claude-opus-4-1-20250805-v1:0";
export const NOVA = "eu.amazon.nova-2-lite-v1:0";
export const GPT_OSS = "openai.gpt-oss-120b-1:0";
export const PROFILE = "arn:aws:bedrock:eu-central-1:123456789012:inference-profile/eu.amazon.nova-pro-v1:0";

/** Clients of both readable formats, of Claude by InvokeModel and of Nova by Converse. */
export const CHAT_TO_CLAUDE = pairOf("chat", "claude");
export const MESSAGES_TO_CLAUDE = pairOf("messages", "claude");
export const CHAT_TO_NOVA = pairOf("chat", "nova");
export const MESSAGES_TO_NOVA = pairOf("messages", "nova");

function pairOf(surface: "chat" | "messages", model: string): FormatPair {
  const isTranslated = surface === "chat" || model !== "claude";
  return { surface: surface === "chat" ? CHAT : MESSAGES, upstream: "anthropic", model, isTranslated };
}

/** A gateway with models at a scripted Bedrock, whose calls are signed with credentials of the environment. */
export interface BedrockFixture {
  gateway(): TestGateway;
  bedrock(): ScriptedBedrock;
  /** Returns the body of the last call that Bedrock accepted. Throws with its complaints when there is none. */
  sent(): Json;
  call(): BedrockCall;
}

const ENVIRONMENT = {
  AWS_ACCESS_KEY_ID: ACCESS_KEY_ID,
  AWS_SECRET_ACCESS_KEY: SECRET_ACCESS_KEY,
  AWS_EC2_METADATA_DISABLED: "true",
};

/** Starts both before the tests of a file, and stops them afterwards. */
export function startBedrockFixture(): BedrockFixture {
  let bedrock: ScriptedBedrock;
  let gateway: TestGateway;
  const before = Object.keys(ENVIRONMENT).map((name) => [name, process.env[name]] as const);
  beforeAll(async () => {
    Object.assign(process.env, ENVIRONMENT);
    bedrock = await startScriptedBedrock();
    gateway = await startTestGateway({
      models: MODELS,
      upstreams: ({ anthropicUrl }) => upstreams(bedrock.url, anthropicUrl),
    });
  });
  beforeEach(() => {
    bedrock.reset();
    gateway.upstream.reset();
  });
  afterAll(async () => {
    await gateway.stop();
    await bedrock.stop();
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });
  const call = () => {
    const last = bedrock.calls.at(-1);
    if (!last) throw new Error(`Bedrock accepted no call: ${bedrock.complaints.join("; ")}`);
    return last;
  };
  return { gateway: () => gateway, bedrock: () => bedrock, call, sent: () => call().body };
}

const ADAPTIVE = { reasoning: "adaptive", sampling: true } as const;
const BUDGET = { reasoning: "budget", sampling: true } as const;
const EFFORT = { reasoning: "effort", sampling: true } as const;

const MODELS = [
  scriptedModel("claude", "anthropic", { routes: [scriptedRoute("bedrock", CLAUDE, { traits: BUDGET })] }),
  scriptedModel("nova", "anthropic", { routes: [scriptedRoute("bedrock", NOVA, { traits: EFFORT })] }),
  scriptedModel("gpt-oss", "anthropic", { routes: [scriptedRoute("bedrock", GPT_OSS, { traits: EFFORT })] }),
  scriptedModel("profile", "anthropic", { routes: [scriptedRoute("bedrock", PROFILE)] }),
  scriptedModel("by-key", "anthropic", { routes: [scriptedRoute("bedrock-key", CLAUDE)] }),
  scriptedModel("claude-converse", "anthropic", {
    routes: [scriptedRoute("bedrock-converse", CLAUDE, { traits: ADAPTIVE })],
  }),
  scriptedModel("spare", "anthropic", {
    routes: [
      scriptedRoute("bedrock", CLAUDE, { priority: 1 }),
      scriptedRoute("scripted-anthropic", "spare", { priority: 2 }),
    ],
  }),
  scriptedModel("nova-spare", "anthropic", {
    routes: [
      scriptedRoute("bedrock", NOVA, { priority: 1 }),
      scriptedRoute("scripted-anthropic", "spare", { priority: 2 }),
    ],
  }),
];

function upstreams(baseUrl: string, anthropicUrl: string) {
  const settings = { region: REGION, profile: undefined, api: undefined };
  return [
    scriptedUpstream("bedrock", "bedrock", { baseUrl, apiKey: "", bedrock: settings }),
    scriptedUpstream("bedrock-key", "bedrock", { baseUrl, apiKey: API_KEY, bedrock: settings }),
    scriptedUpstream("bedrock-converse", "bedrock", {
      baseUrl,
      apiKey: "",
      bedrock: { ...settings, api: "converse" },
    }),
    scriptedUpstream("scripted-anthropic", "anthropic", { baseUrl: anthropicUrl }),
  ];
}

/** Expects an answer with an error of ours, and nothing of Bedrock's text. Returns the error. */
export async function expectOwnError(response: Response, status: number): Promise<Json> {
  const text = await response.text();
  expect([response.status, text]).toEqual([status, expect.any(String)]);
  expect(text).not.toMatch(/bedrock|amazon|exception/i);
  return JSON.parse(text).error;
}
