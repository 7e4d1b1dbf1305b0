import type { ChatEvent } from "../domain/chat-event.ts";
import type { Surface } from "../domain/model.ts";
import { isTier, type ServedTier, type Tier, type TierDemand } from "../domain/tiers.ts";
import type { PrintOptions } from "./format.ts";
import { isJsonObject, isSet, type JsonObject, readText } from "./json/read.ts";
import type { RequestHead } from "./model-request.ts";
import type { ReplyPart } from "./reply-part.ts";
import { rejectUnpricedField } from "./unpriced-fields.ts";

/**
 * Names of the standard tier, in requests and answers.
 *
 * @see https://console.groq.com/docs/service-tiers `on_demand`
 */
const STANDARD: ReadonlySet<unknown> = new Set(["default", "standard", "standard_only", "on_demand"]);

/** Other names of tiers: `fast` is OpenAI's newer name of `priority`. */
const OTHER_NAMES: ReadonlyMap<unknown, Tier> = new Map([["fast", "priority"]]);

/** The fields of a request that ask for a tier. */
export const TIER_NAMES = ["service_tier", "speed", "inference_geo"] as const;

/**
 * Reads the tier that a body in OpenAI's formats asks for; `undefined` for the standard one. Throws
 * `unpriced_field` for an unknown name.
 *
 * @see https://platform.openai.com/docs/api-reference/responses `service_tier`
 */
export function readServiceTier({ service_tier: name }: JsonObject): TierDemand | undefined {
  if (!isSet(name) || STANDARD.has(name)) return undefined;
  const asked = name === "auto" ? name : tierOf(name);
  return asked ? { asked, path: "service_tier" } : rejectUnpricedField("service_tier");
}

/**
 * Reads the tier that a messages body asks for: a speed and a region are one tier together. Throws
 * `unpriced_field` for an unknown name, and for a service tier beside them.
 *
 * @see https://platform.claude.com/docs/en/api/messages `service_tier`, `speed`, `inference_geo`
 */
export function readMessagesTier(body: JsonObject): TierDemand | undefined {
  const { speed, inference_geo: region } = body;
  const service = readServiceTier(body);
  const isFast = isSet(speed) && speed !== "standard";
  const isRegional = isSet(region) && region !== "global";
  if (isFast && speed !== "fast") rejectUnpricedField("speed");
  if (isRegional && region !== "us") rejectUnpricedField("inference_geo");
  if (!isFast && !isRegional) return service;
  if (service && service.asked !== "auto") rejectUnpricedField("service_tier");
  if (!isFast) return { asked: "us", path: "inference_geo" };
  return { asked: isRegional ? "fast_us" : "fast", path: "speed" };
}

/** Returns the tiers that the standard values of a body exclude, as a member of its request. */
export function declinedBy({ service_tier: service, speed, inference_geo: region }: JsonObject) {
  const declined = [
    ...(STANDARD.has(service) ? SERVICE_TIERS : NONE),
    ...(speed === "standard" ? FAST_TIERS : NONE),
    ...(region === "global" ? REGIONAL_TIERS : NONE),
  ];
  return declined.length > 0 ? { declinedTiers: declined } : undefined;
}

function tierOf(name: unknown): Tier | undefined {
  return OTHER_NAMES.get(name) ?? (isTier(name) ? name : undefined);
}

/** Reads the `service_tier` of an answer in OpenAI's formats; `undefined` where the answer names none. */
export function readServed(name: unknown): ServedTier | undefined {
  // Some hosts repeat what was asked for.
  if (!isSet(name) || name === "auto") return undefined;
  return STANDARD.has(name) ? "standard" : (tierOf(name) ?? "unknown");
}

/**
 * Reads the tier that the usage of a message reports. Anthropic's priority tier is capacity that was bought in
 * advance, as OpenAI's scale tier is.
 *
 * @see https://platform.claude.com/docs/en/api/service-tiers
 */
export function readMessagesServed(usage: unknown): ServedTier | undefined {
  if (!isJsonObject(usage)) return undefined;
  const { service_tier: service, speed, inference_geo: region } = usage;
  const isRegional = region === "us";
  if (speed === "fast") return isRegional ? "fast_us" : "fast";
  if (isRegional) return "us";
  return service === "priority" ? "scale" : readServed(service ?? speed);
}

/** Reads the tier that an event of a streamed message reports: its start, or a change of its usage. */
export function readEventServed({ message, usage }: JsonObject): ServedTier | undefined {
  return readMessagesServed(isJsonObject(message) ? message.usage : usage);
}

/**
 * Reads the tier of Gemini's `usageMetadata`, by the Gemini API's name of it or by Vertex AI's.
 *
 * @see https://ai.google.dev/gemini-api/docs/priority-inference `serviceTier`
 * @see https://docs.cloud.google.com/vertex-ai/generative-ai/docs/priority-paygo `trafficType`
 */
export function readGeminiServed({ serviceTier, trafficType }: JsonObject): ServedTier | undefined {
  const name = readText(serviceTier ?? trafficType).toLowerCase();
  if (name === "" || name.endsWith("unspecified")) return undefined;
  if (name === "provisioned_throughput") return "scale";
  return readServed(name.replace(/^(?:service_tier|on_demand)_/, ""));
}

/**
 * Reads the tier of Converse's answer, or of the last event of its stream.
 *
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html `serviceTier`, `performanceConfig`
 */
export function readConverseServed(answer: JsonObject): ServedTier | undefined {
  const { serviceTier, performanceConfig } = answer;
  if (isJsonObject(performanceConfig) && performanceConfig.latency === "optimized") return "optimized";
  const { type } = isJsonObject(serviceTier) ? serviceTier : {};
  return type === "reserved" ? "scale" : readServed(type);
}

/** Returns a part with the tier that its event reports. The standard tier is news only where another was asked for. */
export function withServed(
  part: ReplyPart,
  tier: ServedTier | undefined,
  { tier: demand }: Pick<RequestHead, "tier">,
): ReplyPart {
  return tier === undefined || (tier === "standard" && !demand) ? part : { ...part, tier };
}

/** Adds the tiers that an answer reports to its events. Of a stream, only a change is an event. */
export function createTierReader() {
  let known: ServedTier | undefined;
  return (tier: ServedTier | undefined, events: readonly ChatEvent[]): readonly ChatEvent[] => {
    if (tier === undefined || tier === known) return events;
    known = tier;
    return [{ kind: "tier", tier }, ...events];
  };
}

/** Prints the members by which Anthropic's API is asked for a tier; `auto` is its default. */
export function printMessagesTier(tier: PrintOptions["tier"]): object {
  const isRegional = tier === "us" || tier === "fast_us";
  const isFast = tier === "fast" || tier === "fast_us";
  return { ...(isFast && { speed: "fast" }), ...(isRegional && { inference_geo: "us" }) };
}

/** Prints the members by which Converse is asked for a tier. */
export function printConverseTier(tier: PrintOptions["tier"]): object {
  if (tier === "optimized") return { performanceConfig: { latency: tier } };
  return tier === "priority" || tier === "flex" ? { serviceTier: { type: tier } } : {};
}

const FAST_TIERS: readonly Tier[] = ["fast", "fast_us"];
const REGIONAL_TIERS: readonly Tier[] = ["us", "fast_us"];
/** The tiers that upstreams of OpenAI's formats can be asked for by name. */
const SERVICE_TIERS: readonly Tier[] = ["priority", "flex", "batch", "scale", "performance", "ultrafast"];

/** The tiers that an upstream can be asked for, by its format. A route of any other format sells none. */
const SENDABLE: Readonly<Partial<Record<Surface, readonly Tier[]>>> = {
  chat: SERVICE_TIERS,
  responses: SERVICE_TIERS,
  compact: SERVICE_TIERS,
  messages: ["fast", "us", "fast_us"],
  gemini: ["priority", "flex"],
  converse: ["priority", "flex", "optimized"],
};

/** The tiers that a provider may choose by itself for a request whose service tier is `auto`. */
const CHOSEN: Readonly<Partial<Record<Surface, readonly Tier[]>>> = {
  chat: ["priority", "flex", "scale", "performance"],
  responses: ["priority", "flex", "scale", "performance"],
  compact: ["priority", "flex", "scale", "performance"],
  messages: ["scale"],
};

const NONE: readonly Tier[] = [];

/** Returns the tiers that upstreams of a format can be asked for. */
export function sendableTiers(surface: Surface): readonly Tier[] {
  return SENDABLE[surface] ?? NONE;
}

/** Returns the tiers that upstreams of a format may choose by themselves. */
export function chosenTiers(surface: Surface): readonly Tier[] {
  return CHOSEN[surface] ?? NONE;
}
