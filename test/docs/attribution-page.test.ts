import { expect, test } from "bun:test";
import { join } from "node:path";
import { parseUsd } from "../../src/domain/money.ts";
import { runTollgate } from "../cli/run-tollgate.ts";
import { MESSAGES, post, RESPONSES } from "../support/client.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { runProgram } from "../support/run-program.ts";
import { answerWith } from "../support/scripted-answers.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { CLAUDE_CODE, CODEX_CONFIG, CODEX_RUN, END_USERS, FORGET, LOOP, TAGS } from "./attribution-blocks.ts";
import { readPage } from "./pages.ts";

const gateway = gatewayForTests();

/** Runs lines of a shell, and returns what they print. */
async function printedBy(lines: string): Promise<string> {
  const env = { PATH: process.env.PATH ?? "", TOLLGATE_KEY: "sk" };
  // Not every machine of a test has uuidgen.
  const head = "uuidgen() { echo 6f1d2c3b; }\n";
  return (await runProgram(["sh", "-ec", head + lines], { cwd: tempFolder(), env })).stdout;
}

/** The scopes of the receipt of a response, without the key's id in that of a run. */
async function scopesOf(response: Response): Promise<readonly string[]> {
  expect(response.status).toBe(200);
  await response.text();
  const { scopes } = await gateway.receiptOf(response);
  return scopes.map(({ kind, id }) => `${kind} ${id.split(":").at(-1)}`);
}

const ADA = ["end_user ada", "run 6f1d2c3b"];

test("the commands of the page set how end users are named, and the keys of tags", async () => {
  const folder = tempFolder();
  await runTollgate(folder, ["account", "create", "--name", "acme"]);
  const run = async (block: string) => {
    expect(block).toStartWith("bun tollgate ");
    return (await runTollgate(folder, [...block.trim().split(" ").slice(2), "--json"])).json();
  };
  expect(await run(END_USERS.text)).toMatchObject({ end_users: "hashed", tag_keys: [] });
  expect(await run(FORGET.text)).toMatchObject({ receipts: 0, running: 0 });
  expect(await run(TAGS.text)).toMatchObject({ end_users: "hashed", tag_keys: ["feature", "team"] });
});

test("the headers that the page gives Claude Code name a person and a run", async () => {
  const printed = await printedBy(CLAUDE_CODE.text.replace(/^claude$/m, "printenv ANTHROPIC_CUSTOM_HEADERS"));
  const headers = Object.fromEntries(
    printed
      .trim()
      .split("\n")
      .map((line) => line.split(": ", 2)),
  );
  const body = { metadata: { user_id: '{"device_id":"d"}' } };
  expect(await scopesOf(await post(gateway, MESSAGES, { headers, ...body }))).toEqual(ADA);
});

test("the headers that the page gives Codex name a person and a run", async () => {
  const { model_providers } = Bun.TOML.parse(CODEX_CONFIG.text) as {
    model_providers: { tollgate: { http_headers: object; env_http_headers: Record<string, string> } };
  };
  const { http_headers, env_http_headers } = model_providers.tollgate;
  expect(env_http_headers).toEqual({ "x-tollgate-run": "TOLLGATE_RUN" });
  const run = await printedBy(CODEX_RUN.text.replace(/codex exec .*/, "printenv TOLLGATE_RUN"));
  const headers = { ...http_headers, "x-tollgate-run": run.trim() };
  expect(await scopesOf(await post(gateway, RESPONSES, { headers }))).toEqual(ADA);
});

test("the loop of tools of the page ends in one clean 402 of its run, within its limit", async () => {
  const payer = await gateway.newPayer("100");
  const asked = { tool: { name: "look", arguments: "{}" }, usage: { input: 200, output: 500 } };
  gateway.upstream.on("chat", answerWith(asked));
  const code = LOOP.text
    .replace('"openai"', JSON.stringify(import.meta.resolve("openai")))
    .replace("http://127.0.0.1:8080", gateway.url)
    .replace("process.env.TOLLGATE_KEY", JSON.stringify(payer.secret))
    .replace("max=2.00", "max=0.05")
    .replace('model: "demo"', 'model: "chat", max_tokens: 1_000');
  const tools = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }];
  const head = `const messages = [{ role: "user", content: "go" }], tools = ${JSON.stringify(tools)};
    const calls = []; const call = async (asked) => { calls.push(asked); return "seen"; };\n`;
  const path = join(tempFolder(), "loop.mjs");
  await Bun.write(path, `${head}${code}\nexport { calls, done, run };`);
  const { calls, done, run } = await import(path);
  expect(done).toBe(`stopped by the limit of run ${run}`);
  expect(calls.length).toBeGreaterThan(2);
  expect(gateway.upstream.seen).toHaveLength(calls.length);
  const [limit] = await gateway.tollgate.ledger.spendLimits(payer.key.accountId);
  expect(limit).toMatchObject({ amount: parseUsd("0.05"), held: 0n });
  expect(limit?.used).toBeGreaterThan(0n);
  expect(limit?.used).toBeLessThanOrEqual(parseUsd("0.05"));
});

test("the page lists every kind of scope", () => {
  const kinds = readPage("docs/attribution.md")
    .table("kind")
    .map(([kind = ""]) => kind.replaceAll("`", ""));
  expect(kinds).toEqual(["parent_key", "project", "member", "end_user", "tag", "run"]);
});
