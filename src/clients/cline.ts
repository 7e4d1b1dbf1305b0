import type { Client } from "./client.ts";
import { KEY_REFERENCE, quoteForShell, withSecret } from "./shell.ts";

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
