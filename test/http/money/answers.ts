// Answers of random usage, in the formats of all upstreams.
import type { Charged } from "../../gateway/price-oracle.ts";
import { converseEvents } from "../../support/bedrock/answers.ts";
import type { BedrockScript } from "../../support/bedrock/scripted-bedrock.ts";
import { HELLO } from "../../support/model-output.ts";
import { answer, type Script, type ScriptRequest } from "../../support/script.ts";
import { EVENT_STREAM, frame, streamedLines, wholeFor } from "../../support/scripted-answers.ts";
import { chunkOf, type GoogleScript, type Json } from "../../support/scripted-google.ts";

type Modal = Readonly<Record<"input" | "output" | "cached_input", number>>;

/** What an answer reports. */
export interface Reported {
  readonly tokens: Charged["tokens"];
  readonly audio: Modal;
  readonly image: Modal;
  readonly calls: Readonly<Record<string, number>>;
  /** The members of the usage, or of the answer, that name a tier. */
  readonly tier: object;
}

/** An upstream's format, and how it reports the tier that served an answer. */
export interface UpstreamKind {
  readonly name: string;
  /** The form whose bodies pass through to it. */
  readonly native: string | undefined;
  /** The tiers that it can be asked for. */
  readonly sendable: readonly string[];
  /** The tiers that it may choose for `auto`. */
  readonly choices: readonly string[];
  /** Members that report a tier, with its name in a price. */
  readonly reports: readonly (readonly [members: object, served: string | undefined])[];
  /** The classes of tokens that its usage has, beside input and output. */
  readonly classes: readonly string[];
}

const CHOSEN = ["priority", "flex", "scale", "performance"];
const OPENAI_REPORTS = [
  [{}, undefined],
  [{ service_tier: "auto" }, undefined],
  [{ service_tier: "default" }, "standard"],
  [{ service_tier: "priority" }, "priority"],
  [{ service_tier: "flex" }, "flex"],
  [{ service_tier: "scale" }, "scale"],
  [{ service_tier: "platinum" }, "unknown"],
] as const;
const SERVICE_TIERS = ["priority", "flex", "batch", "scale", "performance", "ultrafast"];

export const UPSTREAMS: readonly UpstreamKind[] = [
  {
    name: "openai",
    native: "chat",
    sendable: SERVICE_TIERS,
    choices: CHOSEN,
    reports: OPENAI_REPORTS,
    classes: ["cached_input", "cache_write"],
  },
  {
    name: "native",
    native: "responses",
    sendable: SERVICE_TIERS,
    choices: CHOSEN,
    reports: OPENAI_REPORTS,
    classes: ["cached_input", "cache_write"],
  },
  {
    name: "anthropic",
    native: "messages",
    sendable: ["fast", "us", "fast_us"],
    choices: ["scale"],
    reports: [
      [{}, undefined],
      [{ service_tier: "standard" }, "standard"],
      [{ service_tier: "standard", speed: "standard" }, "standard"],
      [{ service_tier: "priority" }, "scale"],
      [{ speed: "fast" }, "fast"],
      [{ inference_geo: "us" }, "us"],
      [{ inference_geo: "us", speed: "fast" }, "fast_us"],
    ],
    classes: ["cached_input", "cache_write", "cache_write_1h"],
  },
  {
    name: "gemini",
    native: "gemini",
    sendable: ["priority", "flex"],
    choices: [],
    reports: [
      [{}, undefined],
      [{ serviceTier: "standard" }, "standard"],
      [{ serviceTier: "flex" }, "flex"],
      [{ serviceTier: "SERVICE_TIER_PRIORITY" }, "priority"],
      [{ trafficType: "ON_DEMAND" }, "standard"],
      [{ trafficType: "ON_DEMAND_FLEX" }, "flex"],
      [{ trafficType: "PROVISIONED_THROUGHPUT" }, "scale"],
    ],
    classes: ["cached_input"],
  },
  {
    name: "converse",
    native: undefined,
    sendable: ["priority", "flex", "optimized"],
    choices: [],
    reports: [
      [{}, undefined],
      [{ serviceTier: { type: "default" } }, "standard"],
      [{ serviceTier: { type: "priority" } }, "priority"],
      [{ serviceTier: { type: "flex" } }, "flex"],
      [{ serviceTier: { type: "reserved" } }, "scale"],
      [{ performanceConfig: { latency: "optimized" } }, "optimized"],
    ],
    classes: ["cached_input", "cache_write"],
  },
];

const OUTPUT = { ...HELLO, usage: { input: 1, output: 1 } };
type Members = Readonly<Record<string, unknown>>;

/** Answers in the formats of OpenAI and Anthropic. */
export function scriptOf(reported: Reported): Script {
  return (request) => {
    const isMessages = request.protocol === "anthropic";
    const usage = isMessages ? messagesUsage(reported) : openaiUsage(reported, isOnResponses(request));
    const items = isOnResponses(request) ? callItems(reported) : [];
    const edit = (event: object) =>
      reportIn({ ...event }, { usage, items, tier: isMessages ? {} : reported.tier });
    if (!request.stream) return answer({ body: JSON.stringify(edit(wholeFor(request, OUTPUT))) })(request);
    const lines = streamedLines(request, OUTPUT).map((line) => JSON.stringify(edit(JSON.parse(line))));
    const framing = isMessages || isOnResponses(request) ? "anthropic" : "openai";
    return answer({ headers: EVENT_STREAM, body: frame(framing, lines) })(request);
  };
}

function isOnResponses({ target }: ScriptRequest): boolean {
  return target.endsWith("/responses");
}

interface Reports {
  readonly usage: object;
  readonly items: readonly object[];
  readonly tier: object;
}

/** Replaces the usage of an answer or an event, and adds the calls and the tier that it reports. */
function reportIn(event: Members, reports: Reports): Members {
  const { response, message } = event;
  if (typeof response === "object") return { ...event, response: reportIn({ ...response }, reports) };
  if (typeof message === "object" && message) return { ...event, message: reportIn({ ...message }, reports) };
  const hasUsage = typeof event.usage === "object" && event.usage !== null;
  const { output } = event;
  return {
    ...event,
    ...(event.object !== undefined && reports.tier),
    ...(hasUsage && { usage: reports.usage }),
    ...(hasUsage && Array.isArray(output) && { output: [...reports.items, ...output] }),
  };
}

function messagesUsage({ tokens, calls, tier }: Reported): object {
  const counted = Object.entries(calls).map(([name, count]) => [`${name}_requests`, count]);
  return {
    input_tokens: tokens.input,
    output_tokens: tokens.output,
    cache_read_input_tokens: tokens.cached_input,
    cache_creation_input_tokens: tokens.cache_write + tokens.cache_write_1h,
    cache_creation: {
      ephemeral_5m_input_tokens: tokens.cache_write,
      ephemeral_1h_input_tokens: tokens.cache_write_1h,
    },
    ...(counted.length > 0 && { server_tool_use: Object.fromEntries(counted) }),
    ...tier,
  };
}

function openaiUsage({ tokens, audio, image }: Reported, isResponses: boolean): object {
  const input = tokens.input + tokens.cached_input + tokens.cache_write;
  const [prompt, completion] = isResponses ? ["input", "output"] : ["prompt", "completion"];
  return {
    [`${prompt}_tokens`]: input,
    [`${completion}_tokens`]: tokens.output,
    total_tokens: input + tokens.output,
    [`${prompt}_tokens_details`]: {
      cached_tokens: tokens.cached_input,
      cache_write_tokens: tokens.cache_write,
      audio_tokens: audio.input + audio.cached_input,
      image_tokens: image.input + image.cached_input,
      cached_tokens_details: { audio_tokens: audio.cached_input, image_tokens: image.cached_input },
    },
    [`${completion}_tokens_details`]: {
      reasoning_tokens: 0,
      audio_tokens: audio.output,
      image_tokens: image.output,
    },
  };
}

function callItems({ calls }: Reported): readonly object[] {
  return Object.entries(calls).flatMap(([name, count]) =>
    Array.from({ length: count }, (_, index) => ({
      id: `${name}_${index}`,
      type: `${name}_call`,
      status: "completed",
      ...(name === "web_search" ? { action: { type: "search", query: "tolls" } } : { queries: ["tolls"] }),
    })),
  );
}

/** Answers as Gemini does. */
export function googleScriptOf({ tokens, audio, image, tier }: Reported): GoogleScript {
  const prompt = tokens.input + tokens.cached_input;
  const usageMetadata = {
    promptTokenCount: prompt,
    candidatesTokenCount: tokens.output,
    totalTokenCount: prompt + tokens.output,
    cachedContentTokenCount: tokens.cached_input,
    promptTokensDetails: details(audio.input + audio.cached_input, image.input + image.cached_input),
    cacheTokensDetails: details(audio.cached_input, image.cached_input),
    candidatesTokensDetails: details(0, image.output),
    ...tier,
  };
  return [chunkOf([{ text: "Hello " }]), chunkOf([{ text: "there." }], { usageMetadata }, "STOP")];
}

function details(audio: number, image: number): readonly Json[] {
  return [
    { modality: "AUDIO", tokenCount: audio },
    { modality: "IMAGE", tokenCount: image },
  ].filter(({ tokenCount }) => tokenCount > 0);
}

/** Answers as Converse does. */
export function converseScriptOf({ tokens, tier }: Reported): BedrockScript {
  const usage = {
    inputTokens: tokens.input,
    outputTokens: tokens.output,
    cacheReadInputTokens: tokens.cached_input,
    cacheWriteInputTokens: tokens.cache_write,
    totalTokens: tokens.input + tokens.output + tokens.cached_input + tokens.cache_write,
  };
  const content = [{ text: "Hello there." }];
  const output = { message: { role: "assistant", content } };
  return ({ isStreamed }) => ({
    body: isStreamed
      ? converseEvents(content, "end_turn", usage, tier)
      : { output, stopReason: "end_turn", usage, metrics: { latencyMs: 551 }, ...tier },
  });
}
