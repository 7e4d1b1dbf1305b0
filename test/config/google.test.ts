import { expect, test } from "bun:test";
import { readPage } from "../docs/pages.ts";
import { loadYaml, placesOf, problemsOf } from "./temp-config.ts";

const VARIABLE = '"$' + '{GOOGLE_CREDENTIALS}"';

/** A file with one upstream and a model. */
function fileOf(upstream: string): string {
  return `
upstreams: { up: ${upstream} }
models:
  m:
    routes: [{ upstream: up, model: um }]
    context_window: 100000
    max_output_tokens: 8000
    price: { input: "1", output: "2" }
`;
}

test("Gemini needs a key and nothing else", () => {
  expect(loadYaml(fileOf("{ protocol: gemini, api_key: k }")).upstreams).toMatchObject([
    { protocol: "gemini", baseUrl: "https://generativelanguage.googleapis.com/v1beta", apiKey: "k" },
  ]);
});

test.each([
  ["", "global", "https://aiplatform.googleapis.com"],
  ["location: eu", "eu", "https://aiplatform.eu.rep.googleapis.com"],
  ["location: europe-west1", "europe-west1", "https://europe-west1-aiplatform.googleapis.com"],
])("Vertex AI with %p has the address of its location", (key, location, baseUrl) => {
  const { upstreams } = loadYaml(fileOf(`{ protocol: vertex, project: acme-prod, ${key} }`));
  expect(upstreams).toMatchObject([
    { baseUrl, apiKey: "", google: { project: "acme-prod", location, credentials: undefined } },
  ]);
});

test("credentials of Google Cloud come from a variable, as JSON of a known kind", () => {
  const file = fileOf(`{ protocol: vertex, project: acme-prod, credentials: ${VARIABLE} }`);
  const credentials = '{"type": "service_account", "client_email": "a"}';
  const { upstreams } = loadYaml(file, { GOOGLE_CREDENTIALS: credentials });
  expect(upstreams).toMatchObject([{ google: { credentials } }]);
  for (const wrong of ["no JSON, with a secret", '{"type": "authorized_user"}', "[]"]) {
    const problems = problemsOf(file, { GOOGLE_CREDENTIALS: wrong });
    expect(problems.join("\n")).toContain("upstreams.up.credentials");
    expect(problems.join("\n")).not.toContain("secret");
  }
});

test("keys of other protocols are problems", () => {
  expect(
    placesOf(
      problemsOf(fileOf("{ protocol: gemini, api_key: k, project: p, location: us, credentials: c }")),
    ),
  ).toEqual(
    expect.arrayContaining(["upstreams.up.project", "upstreams.up.location", "upstreams.up.credentials"]),
  );
  expect(placesOf(problemsOf(fileOf("{ protocol: vertex, api_key: k }")))).toEqual(
    expect.arrayContaining(["upstreams.up.project", "upstreams.up.api_key"]),
  );
});

test("the files of the documentation load", () => {
  const { snippets } = readPage("docs/providers/google.md");
  expect(snippets.map(({ text }) => loadYaml(text, { GEMINI_API_KEY: "k" }).models.length)).toEqual([1, 2]);
});
