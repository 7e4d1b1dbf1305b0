import type { Protocol } from "../domain/model.ts";
import { createAnthropicTransport } from "./anthropic-transport.ts";
import { createAzureTransport } from "./azure-transport.ts";
import { createBedrockTransport } from "./bedrock-transport.ts";
import { createGeminiTransport } from "./gemini-transport.ts";
import { createOpenaiTransport } from "./openai-transport.ts";
import type { Transport } from "./transport.ts";
import type { UpstreamConfig } from "./upstream.ts";
import { createVertexTransport } from "./vertex-transport.ts";

const TRANSPORTS: Readonly<Record<Protocol, (config: UpstreamConfig) => Transport>> = {
  openai: createOpenaiTransport,
  anthropic: createAnthropicTransport,
  azure: createAzureTransport,
  bedrock: createBedrockTransport,
  gemini: createGeminiTransport,
  vertex: createVertexTransport,
};

/** Creates the transport of an upstream, by its protocol. */
export function createTransport(config: UpstreamConfig): Transport {
  return TRANSPORTS[config.protocol](config);
}
