import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startServedProcess } from "../support/served-process.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { TOLLGATE } from "../support/tollgate-command.ts";
import { until } from "../support/until.ts";
import { runTollgate } from "./run-tollgate.ts";

/** A provider that accepts one key, lists three models and answers every chat. */
const provider = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch(request) {
    if (request.headers.get("authorization") !== "Bearer sk-good") return new Response("", { status: 401 });
    if (request.method === "GET") return Response.json({ data: LISTED.map((id) => ({ id })) });
    const usage = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 };
    const choices = [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }];
    return Response.json({ id: "c", object: "chat.completion", created: 1, model: "m", choices, usage });
  },
});
const LISTED = ["gpt-4.1", "gpt-4.1-mini", "unknown-model"];
const BASE = ["--base-url", `http://127.0.0.1:${provider.port}/v1`] as const;
const GOOD = { OPENAI_API_KEY: "sk-good" };

let folder = "";
const read = (name: string) => readFileSync(join(folder, name), "utf8");
const init = (words: readonly string[], environment: Record<string, string> = {}) =>
  runTollgate(folder, ["init", ...words], environment);

beforeAll(() => {
  folder = tempFolder();
});
afterAll(() => provider.stop(true));

test("init refuses a key that the provider refuses, and writes nothing", async () => {
  const words = [...BASE, "--model", "openai/gpt-4.1-mini"];
  const ran = await init(words, { OPENAI_API_KEY: "sk-bad-secret" });
  expect(ran.exitCode).toBe(1);
  expect(ran.stderr).toContain("The upstream openai refuses the key with status 401");
  expect(ran.stderr + ran.stdout).not.toContain("sk-bad-secret");
  expect(["tollgate.yaml", ".env", "data"].filter((name) => existsSync(join(folder, name)))).toEqual([]);
});

test("two inits at once leave both models, one account, one key and one credit", async () => {
  writeFileSync(join(folder, "tollgate.yaml"), "# Ours.\nlog: {} # stays\n");
  const words = (model: string) => [...BASE, "--model", `openai/${model}`, "--credit", "5", "--json"];
  const [one, other] = await Promise.all([init(words("gpt-4.1"), GOOD), init(words("gpt-4.1-mini"), GOOD)]);
  expect([one.stderr, other.stderr]).toEqual(["", ""]);
  const text = read("tollgate.yaml");
  expect(text).toStartWith("# Ours.\nlog: {} # stays\nupstreams:\n");
  expect(text).toMatch(/gpt-4\.1: .*\n.*gpt-4\.1-mini: |gpt-4\.1-mini: .*\n.*gpt-4\.1: /);
  expect(text).not.toContain("sk-good");
  expect(read(".env").split("\n").sort()).toEqual([
    "",
    "OPENAI_API_KEY=sk-good",
    expect.stringMatching(/^TOLLGATE_KEY=sk-tg-/),
  ]);
  expect(statSync(join(folder, ".env")).mode & 0o777).toBe(0o600);
  const { accounts } = (await runTollgate(folder, ["account", "list", "--json"])).json();
  expect(accounts).toEqual([expect.objectContaining({ name: "main", posted_usd: "5.00" })]);
  const { keys } = (await runTollgate(folder, ["key", "list", "--json"])).json();
  expect(keys).toHaveLength(1);
});

test("a running gateway takes a second provider, with its key in .env, and bills its answers", async () => {
  const gateway = await startServedProcess({ folder });
  try {
    const words = [...BASE, "--provider", "mistral", "--upstream", "second", "--key-stdin", "--json"];
    const child = Bun.spawn([...TOLLGATE, "init", ...words, "--model", "mistral/mistral-small-latest"], {
      cwd: folder,
      env: { LEDGER_LISTEN: "off", METRICS_LISTEN: "off", PORT: "0", PUBLIC_URL: gateway.url },
      stdin: Buffer.from("sk-good\n"),
      stdout: "pipe",
    });
    const added = JSON.parse(await new Response(child.stdout).text());
    expect(added).toMatchObject({
      upstreams: ["second"],
      variables: ["SECOND_API_KEY"],
      key: { is_new: false },
    });
    expect(added.client.code).toContain(`curl ${gateway.url}/v1/chat/completions`);
    const secret = /TOLLGATE_KEY=(\S+)/.exec(read(".env"))?.[1] ?? "";
    const ask = () =>
      fetch(`${gateway.url}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${secret}` },
        body: JSON.stringify({ model: "mistral-small-latest", messages: [{ role: "user", content: "x" }] }),
      });
    await until(async () => (await ask()).ok);
    const answer = await ask();
    expect(Number(answer.headers.get("x-tollgate-cost-usd"))).toBeGreaterThan(0);
  } finally {
    gateway.signal("SIGTERM");
    await gateway.exitCode;
  }
});

test("init completes what a killed one left: variables without a file, a file without an account", async () => {
  folder = tempFolder();
  const secret = `sk-tg-${"a".repeat(43)}`;
  writeFileSync(join(folder, ".env"), `OPENAI_API_KEY=sk-good\nTOLLGATE_KEY=${secret}\n`);
  const words = [...BASE, "--model", "openai/gpt-4.1", "--account", "acme", "--json"];
  const first = (await init(words)).json();
  expect(first).toMatchObject({ models: ["gpt-4.1"], variables: [], account: { credited_usd: "20.00" } });
  const second = (await init(words)).json();
  expect(second).toMatchObject({ models: [], account: { credited_usd: "0.00" }, key: { is_new: false } });
  expect(read(".env")).toBe(`OPENAI_API_KEY=sk-good\nTOLLGATE_KEY=${secret}\n`);
  const other = await init([...BASE, "--model", "openai/gpt-4.1", "--account", "globex"]);
  expect(other.stderr).toContain("TOLLGATE_KEY in .env is the key of another account");
});

test("init replaces no variable of .env, and says which option is missing without a terminal", async () => {
  folder = tempFolder();
  writeFileSync(join(folder, ".env"), "OPENAI_API_KEY=sk-other\n");
  const words = [...BASE, "--model", "openai/gpt-4.1"];
  const changed = await init([...words, "--no-check"], GOOD);
  expect(changed.stderr).toContain(".env has another OPENAI_API_KEY already");
  expect(read(".env")).toBe("OPENAI_API_KEY=sk-other\n");
  expect((await init([])).stderr).toContain("Without a terminal, name models with --model");
  expect((await init(["--model", "anthropic/claude-sonnet-4-5"])).stderr).toContain(
    "ANTHROPIC_API_KEY is not set",
  );
});

test("init reads no more of an endless file or input than shows that it is no key", async () => {
  folder = tempFolder();
  const words = [...BASE, "--model", "openai/gpt-4.1"];
  expect((await init([...words, "--key-file", "/dev/zero"])).stderr).toBe("/dev/zero holds no key.\n");
  expect((await init([...words, "--key-file", "absent"])).stderr).toBe("absent cannot be read.\n");
  const endless = Bun.spawn(["yes"], { stdout: "pipe", stderr: "ignore" });
  const ran = Bun.spawn([...TOLLGATE, "init", ...words, "--key-stdin"], {
    cwd: folder,
    env: { LEDGER_LISTEN: "off", METRICS_LISTEN: "off" },
    stdin: endless.stdout,
    stderr: "pipe",
  });
  expect(await new Response(ran.stderr).text()).toBe("Standard input holds no key.\n");
  endless.kill();
});

test("init asks on a terminal, does not show keys, and asks again for a refused one", async () => {
  folder = tempFolder();
  let shown = "";
  const child = Bun.spawn([...TOLLGATE, "init", ...BASE], {
    cwd: folder,
    env: { LEDGER_LISTEN: "off", METRICS_LISTEN: "off" },
    terminal: {
      cols: 120,
      rows: 40,
      data(_, bytes) {
        shown += Buffer.from(bytes).toString();
      },
    },
  });
  let seen = 0;
  const answer = async (question: string, line: string) => {
    await until(async () => shown.includes(question, seen));
    seen = shown.indexOf(question, seen) + question.length;
    child.terminal?.write(`${line}\r`);
  };
  await answer("Providers that you have a key of", "openai");
  await answer("OPENAI_API_KEY (not shown)", "sk-bad");
  await answer("OPENAI_API_KEY (not shown)", "sk-good");
  await answer("Models of openai", "mini");
  await answer("Models of openai", "1");
  await answer("Name of your account", "");
  await answer("Its credit in USD", "five");
  await answer("Its credit in USD", "7.50");
  await answer("Most that its key may spend a month", "");
  await answer("Client that you use first", "claude-code");
  expect(await child.exited).toBe(0);
  await until(async () => shown.includes("\nclaude"));
  expect(shown).not.toMatch(/sk-good|sk-bad/);
  expect(shown).toContain("credited with 7.50 USD");
  expect(shown).toContain("export ANTHROPIC_MODEL=gpt-4.1-mini");
  expect(read("tollgate.yaml")).toContain("gpt-4.1-mini: { known: openai/gpt-4.1-mini");
});
