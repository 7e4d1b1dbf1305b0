import { CLINE, clineArguments } from "../../../src/clients/editors.ts";
import { COMMON_UPSTREAMS } from "../upstreams.ts";
import type { Agent } from "./agent.ts";

const MODELS = ["agents-model", "agents-small-model"] as const;

/** Cline without a terminal, with a provider that its own command stores. */
export const cline: Agent = {
  name: "cline",
  client: CLINE.id,
  pack: { name: "cline", version: "3.0.65", programs: ["@cline/cli-*/bin/cline", "cline/bin/cline"] },
  surface: "chat",
  models: MODELS,
  upstreams: COMMON_UPSTREAMS,
  dropsSignatures: true,
  tools: { run: (command) => ({ name: "run_commands", input: { commands: [command] } }) },
  setUp: ({ gatewayUrl, key }) => clineArguments({ url: gatewayUrl, key, model: MODELS[0] }),
  start: (_place, { prompt }) => ({ args: ["--auto-approve", "true", prompt], environment: {} }),
};
