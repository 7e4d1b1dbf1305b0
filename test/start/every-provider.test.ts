import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import OpenAI from "openai";
import { claude } from "../support/bedrock/answers.ts";
import {
  ACCESS_KEY_ID,
  REGION,
  type ScriptedBedrock,
  SECRET_ACCESS_KEY,
  startScriptedBedrock,
} from "../support/bedrock/scripted-bedrock.ts";
import { objectOf } from "../support/client.ts";
import { answerAsAzure } from "../support/scripted-azure.ts";
import { API_KEY, type ScriptedGoogle, startScriptedGoogle } from "../support/scripted-google.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { type ServedProcess, startServedProcess } from "../support/served-process.ts";
import { objectAt } from "../support/strict-json.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { createPaidKey } from "./paid-key.ts";

const CLAUDE = "eu.anthropic.claude-sonnet-4-5-20250929-v1:0";
const ENVIRONMENT = {
  AZURE_OPENAI_API_KEY: "azure-key",
  GEMINI_API_KEY: API_KEY,
  AWS_ACCESS_KEY_ID: ACCESS_KEY_ID,
  AWS_SECRET_ACCESS_KEY: SECRET_ACCESS_KEY,
  AWS_EC2_METADATA_DISABLED: "true",
};

/** Ten lines as an operator writes them, but for the addresses of the scripted providers. */
function configOf(azure: string, bedrock: string, google: string): string {
  return `
upstreams:
  azure: { protocol: azure, base_url: ${azure}, api_key: "\${AZURE_OPENAI_API_KEY}" }
  bedrock: { protocol: bedrock, region: ${REGION}, base_url: ${bedrock} }
  gemini: { protocol: gemini, base_url: ${google}/v1beta, api_key: "\${GEMINI_API_KEY}" }
models:
  gpt-5: { known: azure/gpt-5 }
  claude-sonnet-4-5: { known: "bedrock/${CLAUDE}" }
  gemini-2.5-pro: { known: gemini/gemini-2.5-pro, price: { markup: "1.15" } }
`;
}

let azure: ScriptedUpstream;
let bedrock: ScriptedBedrock;
let google: ScriptedGoogle;
let gateway: ServedProcess;
let secret: string;

beforeAll(async () => {
  azure = await startScriptedUpstream();
  bedrock = await startScriptedBedrock();
  google = startScriptedGoogle();
  const resource = { apiVersion: undefined, tokens: new Set<string>(), deployments: new Set(["gpt-5"]) };
  azure.on("gpt-5", answerAsAzure({ ...resource, keys: new Set(["azure-key"]) }));
  bedrock.on(CLAUDE, claude([{ type: "text", text: "Hello from Bedrock." }]));
  const folder = tempFolder();
  secret = await createPaidKey(folder);
  writeFileSync(join(folder, "tollgate.yaml"), configOf(azure.url, bedrock.url, google.url));
  gateway = await startServedProcess({ folder, environment: ENVIRONMENT });
});
afterAll(async () => {
  gateway.signal("SIGKILL");
  await gateway.exitCode;
  await Promise.all([azure.stop(), bedrock.stop(), google.stop()]);
});

test.each([
  ["gpt-5", "azure", { input: "1.25", output: "10.00" }],
  ["claude-sonnet-4-5", "bedrock", { input: "3.30", output: "16.50" }],
  ["gemini-2.5-pro", "gemini", { input: "1.4375", output: "11.50" }],
])(
  "%s of %s answers the SDK of OpenAI, whole and streamed, at the price of the catalog",
  async (model, upstream, price) => {
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: secret, maxRetries: 0 });
    const messages = [{ role: "user" as const, content: "Hello." }];
    const { data: whole, response } = await client.chat.completions
      .create({ model, messages })
      .withResponse();
    expect(whole.choices[0]?.message.content).toBeTruthy();
    const stream = await client.chat.completions.create({ model, messages, stream: true });
    const pieces = [];
    for await (const chunk of stream) pieces.push(chunk.choices[0]?.delta.content ?? "");
    expect(pieces.join("")).toBe(whole.choices[0]?.message.content ?? "");

    const id = response.headers.get("x-request-id");
    const receipt = await objectOf(
      await fetch(`${gateway.url}/v1/receipts/${id}`, { headers: { "x-api-key": secret } }),
    );
    expect(receipt).toMatchObject({ model, upstream, outcome: "ok", charge_source: "reported" });
    expect(objectAt(receipt.price_usd_per_million_tokens, "prices")).toMatchObject(price);
    expect(receipt).not.toHaveProperty("upstream_cost_usd");
  },
);
