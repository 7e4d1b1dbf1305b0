import { expect, test } from "bun:test";
import { loadLedgerConfig } from "../../src/config/config.ts";
import { configFolder, loadYaml, problemsOf } from "./temp-config.ts";

test("exports have defaults, for a gateway and for a ledger process", () => {
  const yaml = `
exports:
  warehouse: { kind: file, path: usage.jsonl }
  billing: { kind: http, url: "https://billing.example/lines?a=b", secret: "\${SECRET}" }
  collector: { kind: otlp, url: "http://otel-collector:4318", start: now, gzip: true, headers: { x-key: "\${KEY}" } }
`;
  const post = { batchLines: 500, batchBytes: 1_048_576, timeoutMs: 30_000 };
  const expected = [
    {
      name: "warehouse",
      kind: "file",
      start: "beginning",
      path: "usage.jsonl",
      batchLines: 500,
      rotate: "day",
      rotateBytes: 268_435_456,
    },
    {
      name: "billing",
      kind: "http",
      start: "beginning",
      url: "https://billing.example/lines?a=b",
      secret: "sixteen-characters",
      headers: {},
      gzip: false,
      ...post,
    },
    {
      name: "collector",
      kind: "otlp",
      start: "now",
      url: "http://otel-collector:4318",
      headers: { "x-key": "k" },
      gzip: true,
      ...post,
    },
  ];
  const environment = { SECRET: "sixteen-characters", KEY: "k" };
  expect(loadYaml(yaml, environment).exports).toEqual(expected as never);
  expect(loadLedgerConfig(environment, { folder: configFolder(yaml) }).config.exports).toEqual(
    expected as never,
  );
  expect(loadYaml("").exports).toEqual([]);
});

test.each([
  ["A b: { kind: file, path: x }", "is not a valid name of an export"],
  ["a: { kind: csv, path: x }", "file, http or otlp"],
  ["a: { kind: file }", "is missing"],
  ["a: { kind: http }", "is missing"],
  ["a: { kind: file, path: x, secret: sixteen-characters }", "is not a key of kind file"],
  ["a: { kind: otlp, url: 'https://x.example', secret: sixteen-characters }", "is not a key of kind otlp"],
  ["a: { kind: file, path: x }\n  b: { kind: file, path: ./x }", "is the file of another export"],
  ["a: { kind: http, url: 'http://billing.example.com/' }", "is not encrypted"],
  ["a: { kind: http, url: 'https://u:p@billing.example.com/' }", "contains credentials"],
  ["a: { kind: http, url: 'https://billing.example.com/#x' }", "has a fragment"],
  ["a: { kind: http, url: 'nonsense' }", "is not a URL"],
  ["a: { kind: http, url: 'https://x.example', secret: short }", "a secret of 16 to 256 characters"],
  [
    "a: { kind: http, url: 'https://x.example', headers: { content-type: a } }",
    "is not a header that can be set",
  ],
  ["a: { kind: http, url: 'https://x.example', headers: { a: \"b\\r\\nc: d\" } }", "the value of a header"],
])("the export %s is a problem", (entry, problem) => {
  const problems = problemsOf(`exports:\n  ${entry}\n`);
  expect(problems).toEqual([expect.stringContaining(problem)]);
});

test("hosts of a container network may be reached without encryption", () => {
  for (const host of ["127.0.0.1:4318", "10.1.2.3", "collector", "otel.monitoring.svc", "otel.internal"]) {
    expect(problemsOf(`exports: { a: { kind: otlp, url: "http://${host}" } }`)).toEqual([]);
  }
});
