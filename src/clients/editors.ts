// Settings of agents that run in an editor.
import type { Client, ClientModel } from "./client.ts";
import { KEY_REFERENCE, KEY_VARIABLE, quoteForShell, withSecret } from "./shell.ts";

interface ClineFacts {
  readonly url: string;
  readonly key: string;
  readonly model: string;
}

/** Arguments of the command with which Cline stores a provider. */
export function clineArguments({ url, key, model }: ClineFacts): readonly string[] {
  return [
    "auth",
    "--provider",
    "openai-compatible",
    "--baseurl",
    `${url}/v1`,
    "--modelid",
    model,
    "--apikey",
    key,
  ];
}

export const CLINE: Client = {
  id: "cline",
  title: "Cline",
  note: "In a shell. In an editor, choose the provider OpenAI Compatible and enter these values.",
  print(facts) {
    const [{ id: model }] = facts.models;
    const words = clineArguments({ url: facts.url, key: KEY_REFERENCE, model }).map(printArgument);
    return withSecret(facts, `cline ${words.join(" ")}`);
  },
};

function printArgument(word: string): string {
  if (word === KEY_REFERENCE) return `"${word}"`;
  return /^[\w-]+$/.test(word) ? word : quoteForShell(word);
}

export const CONTINUE: Client = {
  id: "continue",
  title: "Continue",
  note: "In ~/.continue/config.yaml, with TOLLGATE_KEY in ~/.continue/.env.",
  print: ({ url, models }) =>
    ["name: Tollgate", "version: 0.0.1", "schema: v1", "models:", ...models.map(printModel(url))].join("\n"),
};

function printModel(url: string) {
  return ({ id, contextWindow, outputTokensMax }: ClientModel) => `  - name: ${JSON.stringify(id)}
    provider: openai
    model: ${JSON.stringify(id)}
    apiBase: ${url}/v1
    apiKey: \${{ secrets.${KEY_VARIABLE} }}
    defaultCompletionOptions:
      contextLength: ${contextWindow}
      maxTokens: ${outputTokensMax}`;
}

export const ZED: Client = {
  id: "zed",
  title: "Zed",
  note: "In Zed's settings.json. The secret goes into Zed's settings of the agent, or into TOLLGATE_API_KEY.",
  print: ({ url, models }) =>
    JSON.stringify(
      {
        language_models: {
          openai_compatible: { Tollgate: { api_url: `${url}/v1`, available_models: models.map(printZed) } },
        },
      },
      null,
      2,
    ),
};

/** Zed's `max_tokens` is the context window. */
function printZed({ id, contextWindow, outputTokensMax }: ClientModel) {
  return { name: id, display_name: id, max_tokens: contextWindow, max_output_tokens: outputTokensMax };
}
