import type { Client, ClientModel } from "./client.ts";
import { KEY_VARIABLE } from "./shell.ts";

interface OpencodeFacts {
  readonly url: string;
  /** The secret, or a reference to it. */
  readonly key: string;
  readonly models: readonly [ClientModel, ...ClientModel[]];
  /** The package with which opencode calls the gateway; each has an API of its own. */
  readonly library: string;
}

/** Settings of opencode with a provider of its own. */
export function opencodeSettings({ url, key, models, library }: OpencodeFacts) {
  return {
    model: `tollgate/${models[0].id}`,
    provider: {
      tollgate: {
        npm: library,
        options: { baseURL: `${url}/v1`, apiKey: key },
        models: Object.fromEntries(models.map((model) => [model.id, { limit: limitOf(model) }])),
      },
    },
  };
}

/** opencode compacts a conversation before it reaches these. */
function limitOf({ contextWindow, outputTokensMax }: ClientModel) {
  return { context: contextWindow, output: outputTokensMax };
}

export const OPENCODE: Client = {
  id: "opencode",
  title: "opencode",
  note: "In opencode.json.",
  print: ({ url, models }) =>
    JSON.stringify(
      opencodeSettings({
        url,
        models,
        key: `{env:${KEY_VARIABLE}}`,
        library: "@ai-sdk/openai-compatible",
      }),
      null,
      2,
    ),
};
