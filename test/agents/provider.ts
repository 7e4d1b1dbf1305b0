import { join } from "node:path";
import { encodeChunk } from "../support/bedrock/event-stream.ts";
import { API_KEY as BEDROCK_KEY, REGION, startScriptedBedrock } from "../support/bedrock/scripted-bedrock.ts";
import { SIGNATURE } from "../support/google-rules.ts";
import type { ModelOutput } from "../support/model-output.ts";
import { answer as answerOf, type ScriptRequest } from "../support/script.ts";
import {
  answerWith,
  EVENT_STREAM,
  frame,
  messagesLines,
  messagesWhole,
} from "../support/scripted-answers.ts";
import {
  API_KEY,
  chunkOf,
  type Json,
  joinChunks,
  PROJECT,
  SUBJECT_TOKEN,
  startScriptedGoogle,
  streamOf,
} from "../support/scripted-google.ts";
import { startScriptedUpstream } from "../support/scripted-upstream.ts";
import type { UpstreamKind } from "./upstreams.ts";

/** Answers a request: output in any format, or a body. */
export type Answering = (request: ScriptRequest) => ModelOutput | { readonly body: object };

/** One scripted provider, as strict as the true one. */
export interface Provider {
  /** The entry of the gateway's configuration. */
  readonly upstream: object;
  /** The members of a route, whose model has a name that the provider knows. */
  route(model: string): object;
  /** Why it refused requests. */
  refused(): readonly string[];
  stop(): Promise<void>;
}

/** Starts a provider whose models all answer alike. Files are made in the folder. */
export async function startProvider(
  kind: UpstreamKind,
  { models, folder, answer }: { models: readonly string[]; folder: string; answer: Answering },
): Promise<Provider> {
  if (kind === "bedrock") return startBedrock(answer);
  if (kind === "gemini" || kind === "vertex") return startGoogle(kind, folder, answer);
  return startOpenaiOrAnthropic(kind, models, answer);
}

async function startOpenaiOrAnthropic(
  kind: UpstreamKind,
  models: readonly string[],
  answer: Answering,
): Promise<Provider> {
  const server = await startScriptedUpstream();
  // Requests that name no model are answered too.
  for (const name of [...models, ""]) {
    server.on(name, (request) => {
      const output = answer(request);
      const script = "body" in output ? answerOf({ body: JSON.stringify(output.body) }) : answerWith(output);
      return script(request);
    });
  }
  const isAnthropic = kind === "anthropic";
  return {
    upstream: {
      protocol: isAnthropic ? "anthropic" : "openai",
      base_url: isAnthropic ? server.anthropicUrl : server.openaiUrl,
      api_key: "provider-secret",
      ...(kind === "openai+responses" && { responses: true }),
    },
    // The gateway cannot derive from these names that the models reason.
    route: (model) => ({ model, reasoning: isAnthropic ? "adaptive" : "effort" }),
    refused: () => [],
    stop: () => server.stop(),
  };
}

/** Gemini wants its signatures back; Vertex AI hosts Claude. */
async function startGoogle(kind: "gemini" | "vertex", folder: string, answer: Answering): Promise<Provider> {
  const server = startScriptedGoogle();
  const isClaude = kind === "vertex";
  const model = isClaude ? "claude-sonnet-4-5@20250929" : "gemini-3-pro-preview";
  for (const name of [model, "count-tokens"]) {
    server.on(name, ({ path, body }, isStream) => {
      const output = answer(requestOf(path, body, isClaude, isStream));
      if ("body" in output) return Response.json(output.body);
      if (isClaude) return isStream ? messageStream(output) : Response.json(messagesWhole(output));
      return isStream ? streamOf(chunksOf(output)) : Response.json(joinChunks(chunksOf(output)));
    });
  }
  const subjectFile = join(folder, "subject-token");
  await Bun.write(subjectFile, SUBJECT_TOKEN);
  return {
    upstream: isClaude
      ? {
          protocol: "vertex",
          project: PROJECT,
          base_url: server.url,
          credentials: server.credentials(subjectFile),
        }
      : { protocol: "gemini", base_url: `${server.url}/v1beta`, api_key: API_KEY },
    route: () => ({ model, ...(isClaude && { reasoning: "adaptive" }) }),
    refused: () => server.refused,
    stop: () => server.stop(),
  };
}

async function startBedrock(answer: Answering): Promise<Provider> {
  const server = await startScriptedBedrock();
  const model = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
  server.on(model, ({ api, body, isStreamed }) => {
    const output = answer(requestOf(api, body, true, isStreamed));
    if ("body" in output) return output;
    if (!isStreamed) return { body: messagesWhole(output) };
    return { body: messagesLines(output).map((line) => encodeChunk(JSON.parse(line))) };
  });
  return {
    upstream: { protocol: "bedrock", region: REGION, base_url: server.url, api_key: BEDROCK_KEY },
    route: () => ({ model, reasoning: "adaptive" }),
    refused: () => server.complaints,
    stop: () => server.stop(),
  };
}

function requestOf(target: string, body: Json, isClaude: boolean, stream: boolean): ScriptRequest {
  return {
    method: "POST",
    target,
    headers: {},
    bodyText: JSON.stringify(body),
    protocol: isClaude ? "anthropic" : "openai",
    model: undefined,
    stream,
    includeUsage: false,
  };
}

function messageStream(output: ModelOutput): Response {
  return new Response(frame("anthropic", messagesLines(output)), { headers: EVENT_STREAM });
}

/** The answer in chunks of Gemini's. Its call is signed, and the signature must come back with the call. */
function chunksOf({ reasoning, text, tool, usage, tier }: ModelOutput): readonly Json[] {
  const call = tool && { id: tool.id, name: tool.name, args: JSON.parse(tool.arguments) };
  const parts = [
    ...(reasoning ? [{ text: reasoning, thought: true }] : []),
    ...(text ? [{ text }] : []),
    ...(call ? [{ functionCall: call, thoughtSignature: SIGNATURE }] : []),
  ];
  const { input = 0, output = 0 } = usage ?? {};
  const usageMetadata = {
    promptTokenCount: input,
    candidatesTokenCount: output,
    totalTokenCount: input + output,
    ...(tier && { serviceTier: tier }),
  };
  return [...parts.map((part) => chunkOf([part])), chunkOf([], { usageMetadata }, "STOP")];
}
