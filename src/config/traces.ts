import type { TraceSampler, TracesConfig } from "../telemetry/request-tracing.ts";
import type { Environment } from "./placeholders.ts";
import type { Problems } from "./problems.ts";

/** A full queue takes about 16 MB. */
const QUEUE_MAX = 8_192;
const BATCH_MAX = 512;
const DELAY_MS = 5_000;
const COUNT_MAX = 1_000_000;

const SAMPLERS = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
];

/**
 * Reads the `OTEL_*` variables. Returns `undefined` without an endpoint, and when they switch traces off. No
 * problem quotes a value, because endpoint and headers may hold secrets.
 *
 * @see https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 * @see https://opentelemetry.io/docs/specs/otel/protocol/exporter/
 */
export function readTraces(environment: Environment, problems: Problems): TracesConfig | undefined {
  const name = environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT
    ? "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
    : "OTEL_EXPORTER_OTLP_ENDPOINT";
  const endpoint = environment[name];
  const isOff =
    environment.OTEL_SDK_DISABLED?.toLowerCase() === "true" || environment.OTEL_TRACES_EXPORTER === "none";
  if (!endpoint || isOff) return undefined;
  const count = (variable: string, fallback: number) =>
    readCount(variable, { environment, fallback }, problems);
  return {
    url: readUrl(name, endpoint, problems),
    protocol: readProtocol(environment, problems),
    headers: {
      ...readPairs("OTEL_EXPORTER_OTLP_HEADERS", environment, problems),
      ...readPairs("OTEL_EXPORTER_OTLP_TRACES_HEADERS", environment, problems),
    },
    serviceName: environment.OTEL_SERVICE_NAME || undefined,
    resourceAttributes: readPairs("OTEL_RESOURCE_ATTRIBUTES", environment, problems),
    sampler: readSampler(environment, problems),
    propagates: readPropagators(environment.OTEL_PROPAGATORS, problems),
    capturesContent: environment.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT?.toLowerCase() === "true",
    queueMax: count("OTEL_BSP_MAX_QUEUE_SIZE", QUEUE_MAX),
    batchMax: count("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", BATCH_MAX),
    delayMs: count("OTEL_BSP_SCHEDULE_DELAY", DELAY_MS),
  };
}

/** The general endpoint gets the path of traces, the one for traces is used as it is. */
function readUrl(name: string, text: string, problems: Problems): string {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") {
    problems.add([name], "is not the URL of a receiver", "http://HOST:4318 or https://…, without a password");
    return "";
  }
  if (name === "OTEL_EXPORTER_OTLP_ENDPOINT") url.pathname = `${url.pathname.replace(/\/$/, "")}/v1/traces`;
  return url.href;
}

function readProtocol(environment: Environment, problems: Problems): TracesConfig["protocol"] {
  const name = environment.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL
    ? "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"
    : "OTEL_EXPORTER_OTLP_PROTOCOL";
  const protocol = environment[name] || "http/protobuf";
  if (protocol === "http/protobuf" || protocol === "http/json") return protocol;
  problems.add([name], "is not a supported protocol", "http/protobuf or http/json");
  return "http/protobuf";
}

/** Reads "name=value,name=value", values percent-encoded. */
function readPairs(name: string, environment: Environment, problems: Problems): Record<string, string> {
  const pairs = (environment[name] ?? "").split(",").filter((pair) => pair.trim() !== "");
  try {
    return Object.fromEntries(pairs.map(readPair));
  } catch {
    problems.add(
      [name],
      "has an entry that is not a pair",
      "name=value,name=value with percent-encoded values",
    );
    return {};
  }
}

/** Throws for an entry without a name, and for a value that cannot be decoded or has a control character. */
function readPair(pair: string): [string, string] {
  const at = pair.indexOf("=");
  const name = pair.slice(0, at).trim();
  const value = decodeURIComponent(pair.slice(at + 1).trim());
  if (at < 0 || !/^[\w.-]+$/.test(name) || /\p{Cc}/u.test(value)) throw new TypeError("not a pair");
  return [name, value];
}

function readSampler(environment: Environment, problems: Problems): TraceSampler {
  const name = environment.OTEL_TRACES_SAMPLER || "parentbased_always_on";
  if (!SAMPLERS.includes(name)) {
    problems.add(["OTEL_TRACES_SAMPLER"], "is not a supported sampler", `one of ${SAMPLERS.join(", ")}`);
  }
  const isParentBased = name.startsWith("parentbased_");
  if (!name.endsWith("ratio")) return { isParentBased, ratio: name.endsWith("off") ? 0 : 1 };
  const text = environment.OTEL_TRACES_SAMPLER_ARG || "1";
  const ratio = Number(text);
  if (!/^[\d.]+(e-\d+)?$/.test(text) || !(ratio >= 0 && ratio <= 1)) {
    problems.add(["OTEL_TRACES_SAMPLER_ARG"], "is not a share", "a number from 0 to 1");
  }
  return { isParentBased, ratio };
}

/** Baggage is neither read nor passed on, and accepted because the standard's default names it. */
function readPropagators(text: string | undefined, problems: Problems): boolean {
  const names = (text || "tracecontext,baggage").split(",").map((name) => name.trim());
  if (!names.every((name) => ["tracecontext", "baggage", "none"].includes(name))) {
    problems.add(["OTEL_PROPAGATORS"], "names an unknown propagator", "tracecontext, baggage or none");
  }
  return names.includes("tracecontext") && !names.includes("none");
}

function readCount(
  name: string,
  { environment, fallback }: { readonly environment: Environment; readonly fallback: number },
  problems: Problems,
): number {
  const text = environment[name];
  if (!text) return fallback;
  const count = Number(text);
  if (!/^\d{1,7}$/.test(text) || count < 1 || count > COUNT_MAX) {
    problems.add([name], "is not a count", `a whole number from 1 to ${COUNT_MAX}`);
  }
  return count;
}
