/** Formats of an upstream that every agent runs with. */
export const COMMON_UPSTREAMS = ["openai", "anthropic", "gemini"] as const;

/** All upstreams: clouds that host Claude, and OpenAI's responses beside chat completions. */
export const UPSTREAMS = [...COMMON_UPSTREAMS, "vertex", "bedrock", "openai+responses"] as const;
export type UpstreamKind = (typeof UPSTREAMS)[number];
