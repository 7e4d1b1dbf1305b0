import { join, resolve } from "node:path";
import { FAST_MODEL } from "../answers.ts";
import type { Target } from "../connection.ts";
import { LITELLM, type PinnedPackage, PORTKEY, TENSORZERO } from "./packages.ts";

/** Another gateway, and how its documentation starts it before an OpenAI-compatible upstream. */
export interface Peer {
  readonly name: string;
  readonly package: PinnedPackage;
  /** The name that requests give the upstream's model. */
  readonly model: string;
  plan(place: Place): Launch;
}

export interface Place {
  /** Folder of the installed package. */
  readonly folder: string;
  /** A free port. */
  readonly port: number;
  readonly upstreamUrl: string;
}

/** A process to start. */
export interface Launch {
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Text files of its working folder, by name. */
  readonly files: Readonly<Record<string, string>>;
  /** Returns the address of its requests, or `undefined` while the process has not printed it. */
  targetOf(printed: string): Target | undefined;
}

export const PEERS: readonly Peer[] = [
  portkeyOn("Node", "node"),
  portkeyOn("Bun", process.execPath),
  { name: "LiteLLM", package: LITELLM, model: FAST_MODEL, plan: planLitellm },
  {
    name: "TensorZero",
    package: TENSORZERO,
    model: `tensorzero::model_name::${FAST_MODEL}`,
    plan: planTensorzero,
  },
];

/** @see https://portkey.ai/docs/api-reference/inference-api/headers */
function portkeyOn(runtime: string, program: string): Peer {
  return {
    name: `Portkey on ${runtime}`,
    package: PORTKEY,
    model: FAST_MODEL,
    plan({ folder, port, upstreamUrl }) {
      const script = join(folder, "node_modules", PORTKEY.name, "build/start-server.js");
      const headers = { "x-portkey-provider": "openai", "x-portkey-custom-host": `${upstreamUrl}/v1` };
      return {
        command: [program, script, `--port=${port}`, "--headless"],
        environment: { NODE_ENV: "production" },
        files: {},
        targetOf: () => ({ url: `http://127.0.0.1:${port}`, secret: "bench", headers }),
      };
    },
  };
}

/** @see https://docs.litellm.ai/docs/proxy/prod */
function planLitellm({ folder, port, upstreamUrl }: Place): Launch {
  const program = join(folder, "venv/bin/litellm");
  const address = ["--host", "127.0.0.1", "--port", `${port}`];
  const files = ["--config", "config.yaml", "--log_config", "log.json"];
  return {
    command: [program, ...address, ...files, "--telemetry", "False"],
    environment: {
      LITELLM_MODE: "PRODUCTION",
      LITELLM_LOG: "ERROR",
      // The table of prices comes from the package, and not from the internet.
      LITELLM_LOCAL_MODEL_COST_MAP: "True",
      // The upstream repeats one word, which LiteLLM would take for a model that is stuck.
      REPEATED_STREAMING_CHUNK_LIMIT: "1000000",
    },
    files: { "config.yaml": printLitellmConfig(upstreamUrl), "log.json": JSON.stringify(WITHOUT_ACCESS_LOG) },
    targetOf: () => ({ url: `http://127.0.0.1:${port}`, secret: "" }),
  };
}

const WITHOUT_ACCESS_LOG = {
  version: 1,
  disable_existing_loggers: false,
  loggers: { "uvicorn.access": { level: "CRITICAL" } },
};

/** Returns JSON, which is also YAML. */
function printLitellmConfig(upstreamUrl: string): string {
  const upstream = { model: `openai/${FAST_MODEL}`, api_base: `${upstreamUrl}/v1`, api_key: "bench" };
  return JSON.stringify({ model_list: [{ model_name: FAST_MODEL, litellm_params: upstream }] });
}

/** @see https://github.com/tensorzero/tensorzero/blob/main/docs/gateway/configuration-reference.mdx */
function planTensorzero({ folder, upstreamUrl }: Place): Launch {
  const script = resolve(import.meta.dir, "serve-tensorzero.py");
  return {
    command: [join(folder, "venv/bin/python"), script, "tensorzero.toml"],
    environment: {},
    files: { "tensorzero.toml": printTensorzeroConfig(upstreamUrl) },
    targetOf(printed) {
      const address = /^address: (\S+)$/m.exec(printed)?.[1];
      if (address === undefined) return undefined;
      const { origin, pathname } = new URL(address);
      return { url: origin, secret: "", path: `${pathname.replace(/\/$/, "")}/chat/completions` };
    },
  };
}

function printTensorzeroConfig(upstreamUrl: string): string {
  return `[gateway]
observability.enabled = false
disable_pseudonymous_usage_analytics = true

[models.${FAST_MODEL}]
routing = ["bench"]

[models.${FAST_MODEL}.providers.bench]
type = "openai"
api_base = "${upstreamUrl}/v1"
model_name = "${FAST_MODEL}"
api_key_location = "none"
`;
}
