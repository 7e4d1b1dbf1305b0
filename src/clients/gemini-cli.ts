import type { Client } from "./client.ts";
import { KEY_REFERENCE, printExports, quoteForShell, withSecret } from "./shell.ts";

/** Without it, Gemini CLI takes another kind of sign-in for an address that is not Google's, and stops. */
export const GEMINI_CLI_SETTINGS = { security: { auth: { selectedType: "gemini-api-key" } } };

/** The environment variables that direct Gemini CLI to a gateway. */
export function geminiCliVariables({ url, key }: { readonly url: string; readonly key: string }) {
  return { GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: key };
}

export const GEMINI_CLI: Client = {
  id: "gemini-cli",
  title: "Gemini CLI",
  note: "In a shell. A settings.json that exists is kept: it needs the member security.auth.selectedType.",
  print(facts) {
    const [{ id: model }] = facts.models;
    const file = "~/.gemini/settings.json";
    const settings = quoteForShell(JSON.stringify(GEMINI_CLI_SETTINGS));
    const lines = [
      printExports(geminiCliVariables({ url: facts.url, key: KEY_REFERENCE })),
      "mkdir -p ~/.gemini",
      `[ -e ${file} ] || echo ${settings} > ${file}`,
      `gemini --model ${quoteForShell(model)}`,
    ];
    return withSecret(facts, lines.join("\n"));
  },
};
