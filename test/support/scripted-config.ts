import type { ScriptedUpstream } from "./scripted-upstream.ts";

/** A `tollgate.yaml` whose one model `chat` is answered by the scripted upstream; `more` is what else it says. */
export function scriptedConfig({ openaiUrl }: Pick<ScriptedUpstream, "openaiUrl">, more: string): string {
  return `
upstreams:
  scripted: { protocol: openai, base_url: "${openaiUrl}", api_key: provider-secret }
models:
  chat:
    routes: [ { upstream: scripted, model: chat } ]
    context_window: 100000
    max_output_tokens: 1000
    price: { input: "1.00", output: "2.00" }
${more}
`;
}
