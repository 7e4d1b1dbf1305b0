import type { Client, ClientModel } from "./client.ts";
import { KEY_VARIABLE } from "./shell.ts";

interface QwenCodeFacts {
  readonly url: string;
  readonly models: readonly [ClientModel, ...ClientModel[]];
}

/** Settings of Qwen Code with the gateway's chat completions. */
export function qwenCodeSettings({ url, models }: QwenCodeFacts) {
  return {
    security: { auth: { selectedType: "openai" } },
    model: { name: models[0].id },
    modelProviders: {
      openai: models.map(({ id, contextWindow }) => ({
        id,
        name: id,
        envKey: KEY_VARIABLE,
        baseUrl: `${url}/v1`,
        generationConfig: { contextWindowSize: contextWindow },
      })),
    },
  };
}

export const QWEN_CODE: Client = {
  id: "qwen-code",
  title: "Qwen Code",
  note: "In ~/.qwen/settings.json.",
  print: ({ url, models }) => JSON.stringify(qwenCodeSettings({ url, models }), null, 2),
};
