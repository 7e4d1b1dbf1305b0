// What random requests ask for, in the four forms of clients.

/** The forms of clients. */
export const CLIENTS = ["chat", "responses", "messages", "gemini"] as const;
export type Client = (typeof CLIENTS)[number];

/** A request for a tier: the members of the body that ask for it, and the name in a price. */
interface TierRequest {
  readonly body: object;
  /** `undefined` for the standard tier. */
  readonly asked: string | undefined;
}

const service = (service_tier: string, asked: string | undefined): TierRequest => ({
  body: { service_tier },
  asked,
});
const OF_OPENAI: readonly TierRequest[] = [
  { body: {}, asked: undefined },
  ...["priority", "flex", "scale", "optimized", "us", "auto"].map((name) => service(name, name)),
  service("fast", "priority"),
  service("default", undefined),
];

/** How each form asks for tiers. */
export const TIER_REQUESTS: Readonly<Record<Client, readonly TierRequest[]>> = {
  chat: OF_OPENAI,
  responses: OF_OPENAI,
  messages: [
    { body: {}, asked: undefined },
    { body: { speed: "fast" }, asked: "fast" },
    { body: { inference_geo: "us" }, asked: "us" },
    { body: { inference_geo: "us", speed: "fast" }, asked: "fast_us" },
    { body: { speed: "standard", inference_geo: "global" }, asked: undefined },
    ...["auto", "priority", "flex"].map((name) => service(name, name)),
    service("standard_only", undefined),
  ],
  gemini: [
    { body: {}, asked: undefined },
    { body: { serviceTier: "priority" }, asked: "priority" },
    { body: { service_tier: "flex" }, asked: "flex" },
    { body: { serviceTier: "SERVICE_TIER_FLEX" }, asked: "flex" },
    { body: { serviceTier: "standard" }, asked: undefined },
  ],
};

/** What a request has beside text. Tools have their bound; `undefined` leaves it to the gateway. */
export interface Extras {
  readonly tools: readonly string[];
  readonly callsMax: number | undefined;
  readonly hears: boolean;
  readonly sees: boolean;
  readonly speaks: boolean;
}

const PIXEL = "iVBORw0KGgo=";
const SOUND = "UklGRg==";

/** Returns the path and the body of a request. */
export function requestOf(client: Client, model: string, { prompt, stream, tier, extras }: Asking) {
  const bound = extras.callsMax;
  switch (client) {
    case "chat":
      return { path: "/v1/chat/completions", body: { model, stream, ...tier, ...chatOf(prompt, extras) } };
    case "responses": {
      const tools = extras.tools.map((type) => ({ type }));
      const limit = tools.length > 0 && bound !== undefined ? { max_tool_calls: bound } : {};
      const input = [{ role: "user", content: prompt }];
      return {
        path: "/v1/responses",
        body: { model, stream, ...tier, input, ...(tools.length > 0 && { tools }), ...limit },
      };
    }
    case "messages": {
      const tools = extras.tools.map((name) => ({
        type: `${name}_20250305`,
        name,
        ...(bound !== undefined && { max_uses: bound }),
      }));
      const messages = [{ role: "user", content: prompt }];
      const body = { model, stream, max_tokens: 2_000, messages, ...(tools.length > 0 && { tools }) };
      return { path: "/v1/messages", body: { ...body, ...tier } };
    }
    case "gemini": {
      const method = stream ? "streamGenerateContent?alt=sse" : "generateContent";
      const parts = [
        { text: prompt },
        ...(extras.hears ? [{ inlineData: { mimeType: "audio/wav", data: SOUND } }] : []),
        ...(extras.sees ? [{ inlineData: { mimeType: "image/png", data: PIXEL } }] : []),
      ];
      return {
        path: `/v1beta/models/${model}:${method}`,
        body: { contents: [{ role: "user", parts }], ...tier },
      };
    }
  }
}

interface Asking {
  readonly prompt: string;
  readonly stream: boolean;
  readonly tier: object;
  readonly extras: Extras;
}

function chatOf(prompt: string, { tools, hears, sees, speaks }: Extras): object {
  const image = { type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL}` } };
  const sound = { type: "input_audio", input_audio: { data: SOUND, format: "wav" } };
  const parts = [{ type: "text", text: prompt }, ...(sees ? [image] : []), ...(hears ? [sound] : [])];
  return {
    messages: [{ role: "user", content: parts }],
    ...(tools.length > 0 && { web_search_options: {} }),
    ...(speaks && { modalities: ["text", "audio"], audio: { voice: "alloy", format: "wav" } }),
  };
}
