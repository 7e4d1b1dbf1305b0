import { expect, test } from "bun:test";
import { CODEX, OPENCODE } from "../../src/clients/agents.ts";
import { CLIENTS } from "../../src/clients/clients.ts";
import { DEMO_MODEL } from "../../src/demo/demo-model.ts";
import { AGENTS } from "../agents/agent/all.ts";
import { findUnlisted, readListed } from "../agents/client-fields.ts";
import { printPage, readPage as readConformance, readLines } from "../agents/conformance-page.ts";
import { readPage } from "./pages.ts";

const PAGE = readPage("docs/clients.md");
const FACTS = { url: "http://127.0.0.1:8080", models: [DEMO_MODEL] } as const;

test("the clients page shows the settings that the command prints", () => {
  expect(PAGE.snippet("wire_api").text).toBe(`${CODEX.print(FACTS)}\n`);
  const shown = JSON.parse(PAGE.snippet("@ai-sdk/openai-compatible").text);
  expect(shown).toEqual(JSON.parse(OPENCODE.print(FACTS)));
});

test("the conformance page is what the runs of agents write", async () => {
  const text = await readConformance();
  expect(text).toBe(printPage(readLines(text)));
});

test("the conformance page names every client that has settings", async () => {
  const text = await readConformance();
  for (const { title } of CLIENTS) expect(text).toContain(`| ${title} |`);
});

test("the tables of agents' fields list what their runs compare", async () => {
  const listed = readListed(readPage("docs/client-fields.md").text, "Codex");
  expect([...(listed ?? [])]).toEqual(expect.arrayContaining(["model", "tools:web_search", "originator"]));
  const [agent] = AGENTS.filter(({ name }) => name === "codex");
  const body = Buffer.from(
    '{"model":"m","tools":[{"type":"function"},{"type":"new_tool"}],"reasoning":{"new":1}}',
  );
  const request = { method: "POST", target: "/", headers: { host: "h", "x-new": "1" }, body, status: 200 };
  const problems =
    agent && (await findUnlisted(agent, [{ ...request, events: [{ type: "response.create", more: 1 }] }]));
  const fields = ["x-new", "tools:new_tool", "reasoning.new", "more"];
  expect(problems).toEqual(fields.map((field) => `no table lists the field ${field}`));
});

test("every agent of the runs has settings", () => {
  const clients = CLIENTS.map(({ id }) => id);
  expect(AGENTS.map(({ client }) => client).filter((client) => !clients.includes(client))).toEqual([]);
});
