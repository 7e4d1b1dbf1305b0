import { describe, expect, test } from "bun:test";
import { createProblems } from "../../src/config/problems.ts";
import { readTraces } from "../../src/config/traces.ts";
import { tracesTo } from "../support/otlp/traces-to.ts";

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" };

function read(environment: Record<string, string>) {
  const problems = createProblems();
  return { traces: readTraces(environment, problems), problems: problems.list() };
}

describe("the variables of OpenTelemetry", () => {
  test.each([
    ["no endpoint", {}],
    ["an empty endpoint", { OTEL_EXPORTER_OTLP_ENDPOINT: "" }],
    ["OTEL_SDK_DISABLED", { ...ENDPOINT, OTEL_SDK_DISABLED: "TRUE" }],
    ["the exporter none", { ...ENDPOINT, OTEL_TRACES_EXPORTER: "none" }],
  ])("with %s switch traces off", (_what, environment) => {
    expect(read(environment)).toEqual({ traces: undefined, problems: [] });
  });

  test("need an endpoint alone", () =>
    expect(read(ENDPOINT).traces).toEqual(tracesTo("http://collector:4318", { delayMs: 5_000 })));

  test("of traces override the general ones", () => {
    const { traces } = read({
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://other",
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "https://tempo.example/otlp",
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf",
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "http/json",
      OTEL_EXPORTER_OTLP_HEADERS: "a=1,authorization=Basic%20eA%3D%3D",
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: "a=2",
      OTEL_SERVICE_NAME: "gate",
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test, team = a%2Cb",
      OTEL_TRACES_SAMPLER: "traceidratio",
      OTEL_TRACES_SAMPLER_ARG: "0.01",
      OTEL_PROPAGATORS: "none",
      OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "true",
    });
    expect(traces).toMatchObject({
      url: "https://tempo.example/otlp",
      protocol: "http/json",
      headers: { a: "2", authorization: "Basic eA==" },
      serviceName: "gate",
      resourceAttributes: { "deployment.environment.name": "test", team: "a,b" },
      sampler: { isParentBased: false, ratio: 0.01 },
      propagates: false,
      capturesContent: true,
    });
  });

  test("with a path keep it in front of the path of traces", () => {
    const { traces } = read({ OTEL_EXPORTER_OTLP_ENDPOINT: "https://api.example/otlp/" });
    expect(traces?.url).toBe("https://api.example/otlp/v1/traces");
  });

  test.each([
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "canary"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "ftp://canary"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "http://user:canary@host"],
    ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc-canary"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "canary"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "a=canary%0d%0a"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "a=canary%"],
    ["OTEL_RESOURCE_ATTRIBUTES", "=canary"],
    ["OTEL_TRACES_SAMPLER", "canary"],
    ["OTEL_TRACES_SAMPLER_ARG", "2"],
    ["OTEL_TRACES_SAMPLER_ARG", "canary"],
    ["OTEL_PROPAGATORS", "b3-canary"],
    ["OTEL_BSP_MAX_QUEUE_SIZE", "0"],
    ["OTEL_BSP_SCHEDULE_DELAY", "canary"],
  ])("report a bad %s without its value (%s)", (name, value) => {
    const sampler = name === "OTEL_TRACES_SAMPLER_ARG" ? { OTEL_TRACES_SAMPLER: "traceidratio" } : {};
    const { problems } = read({ ...ENDPOINT, ...sampler, [name]: value });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toStartWith(`${name}: `);
    expect(problems[0]).not.toContain("canary");
  });
});
