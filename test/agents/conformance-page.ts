import { resolve } from "node:path";
import { devDependencies } from "../../package.json";
import { CLIENTS } from "../../src/clients/clients.ts";
import { ANTHROPIC_PYTHON_VERSION } from "../clients/python-packages.ts";
import type { Agent } from "./agent/agent.ts";
import { AGENTS } from "./agent/all.ts";

import { turnsOf } from "./report.ts";
import type { CaseResult } from "./run-case.ts";
import { UPSTREAMS, type UpstreamKind } from "./upstreams.ts";

const PAGE = resolve(import.meta.dir, "../../docs/conformance.md");
const UPSTREAM_ORDER: readonly string[] = UPSTREAMS;
const HEAD = "| client | run | version | upstream | over | turns | requests | USD | what works | date |";

/** One row of the page: an agent with an upstream, in its last run. */
export interface PageLine {
  readonly client: string;
  readonly run: string;
  readonly version: string;
  readonly upstream: string;
  readonly transport: string;
  /** How often the model answered for the errand. */
  readonly turns: string;
  /** All requests that reached the upstream. */
  readonly requests: string;
  readonly usd: string;
  readonly works: string;
  readonly date: string;
}

interface TestedClient {
  readonly version?: string;
  readonly by: string;
}

/** Clients that tests of the repository run, with the version that they run. */
const TESTED: Readonly<Record<string, TestedClient>> = {
  curl: { by: "test/docs/docs.test.ts" },
  "openai-js": { version: devDependencies.openai, by: "test/clients/openai.test.ts" },
  "anthropic-python": { version: ANTHROPIC_PYTHON_VERSION, by: "test/clients/python-tool-runner.test.ts" },
  "anthropic-js": { version: devDependencies["@anthropic-ai/sdk"], by: "test/clients/anthropic.test.ts" },
  "google-js": { version: devDependencies["@google/genai"], by: "test/clients/google.test.ts" },
};

export function lineOf(agent: Agent, upstream: UpstreamKind, result: CaseResult): PageLine {
  const { problems, requests, answered, chargedUsd } = result;
  const isSocket = requests.some(({ status }) => status === 101);
  return {
    client: titleOf(agent.client),
    run: agent.name,
    version: agent.pack.version,
    upstream,
    transport: isSocket ? "WebSocket" : "HTTP",
    turns: String(turnsOf(result)),
    requests: String(answered.length),
    usd: chargedUsd,
    works: problems.length === 0 ? "all" : `fails: ${problems.join("; ").replaceAll("|", "/")}`,
    date: new Date().toISOString().slice(0, 10),
  };
}

/** Replaces the line of the same agent and upstream, and keeps all others. */
export async function addToPage(line: PageLine): Promise<void> {
  const others = readLines(await readPage()).filter(
    ({ run, upstream }) => run !== line.run || upstream !== line.upstream,
  );
  await Bun.write(PAGE, printPage([...others, line]));
}

export async function readPage(): Promise<string> {
  const page = Bun.file(PAGE);
  return (await page.exists()) ? await page.text() : "";
}

/** Reads the table of runs. */
export function readLines(page: string): readonly PageLine[] {
  const lines = page.split("\n");
  const start = lines.indexOf(HEAD);
  const end = lines.indexOf("", start);
  return start < 0 ? [] : lines.slice(start + 2, end < 0 ? undefined : end).map(readLine);
}

function readLine(text: string): PageLine {
  const cells = text.split("|").map((cell) => cell.trim());
  const [, client = "", run = "", version = "", upstream = "", transport = "", ...more] = cells;
  const [turns = "", requests = "", usd = "", works = "", date = ""] = more;
  const figures = { turns, requests, usd };
  return { client, run: run.replaceAll("`", ""), version, upstream, transport, ...figures, works, date };
}

export function printPage(lines: readonly PageLine[]): string {
  const run = new Set(lines.map(({ client }) => client));
  const others = CLIENTS.filter(({ title }) => !run.has(title));
  return `# Conformance

For developers who want to know which client runs, with which version and upstream. Written by
\`bun run agents --page\`: edit \`test/agents/conformance-page.ts\` instead.

## Agents

Each agent runs as its user would start it, with the settings that \`bun tollgate clients\` prints, through a gateway in
its own process to one scripted upstream. The model has the agent do an errand of 14 calls: write, read and edit files,
and run commands, one of which fails. Codex's context gets full within it, and is replaced by a summary.

"All" means: the errand is done, the provider would accept every request, every request has the outcome \`ok\`. Receipts,
statement and wallet have the cost of the reported usage to the nano-dollar, nothing is still held, and the audit finds no
problem. [Fields of agents](client-fields.md) lists every field that was sent. A row is the last run of its agent and
upstream; a pair without a row has not run. The runs of Codex with \`codex-fast\` are charged by the tier \`priority\`.

${HEAD}
|---|---|---|---|---|---|---|---|---|---|
${[...lines].sort(compareLines).map(printLine).join("\n")}

## Other clients

| client | version | tested by |
|---|---|---|
${others.map(({ id, title }) => printOther(id, title)).join("\n")}
`;
}

function printLine(line: PageLine): string {
  const { client, run, version, upstream, transport, turns, requests, usd, works, date } = line;
  const cells = [client, `\`${run}\``, version, upstream, transport, turns, requests, usd, works, date];
  return `| ${cells.join(" | ")} |`;
}

function printOther(id: string, title: string): string {
  const { version = "", by } = TESTED[id] ?? {};
  return `| ${title} | ${version} | ${by ? `every run of \`${by}\`` : "not run"} |`;
}

function compareLines(one: PageLine, other: PageLine): number {
  return placeOf(one) - placeOf(other);
}

/** The place of a line: agents in their own order, and upstreams within. */
function placeOf({ run, upstream }: PageLine): number {
  const agent = AGENTS.findIndex(({ name }) => name === run);
  return agent * UPSTREAMS.length + UPSTREAM_ORDER.indexOf(upstream);
}

function titleOf(id: string): string {
  const client = CLIENTS.find((each) => each.id === id);
  if (!client) throw new Error(`There is no client ${id}`);
  return client.title;
}
