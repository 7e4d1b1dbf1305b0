import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, chownSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTokenCounter } from "../../src/tokens/count-tokens.ts";
import { REPOSITORY } from "../docs/pages.ts";
import { type RanProgram, runProgram } from "../support/run-program.ts";
import { type ServedProcess, startServedProcess } from "../support/served-process.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { until } from "../support/until.ts";

const BUILD = join(REPOSITORY, "deploy/executable.ts");
/** The uid and gid of nobody. */
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;
/** Runs a command as another user, where this one may. */
const AS_NOBODY = isRoot
  ? [Bun.which("setpriv") ?? "setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"]
  : [];
/** Without a home, and without any program on the path. */
const EMPTY = { PATH: "/nonexistent" };

let program: string;
/** An empty folder that belongs to the user who starts the gateway. */
let folder: string;
const running: ServedProcess[] = [];
beforeAll(async () => {
  const home = tempFolder();
  program = join(home, "tollgate");
  const environment = { ...process.env, TOLLGATE_COMMIT: "c0ffee" };
  const build = Bun.spawn([process.execPath, BUILD, "--outfile", program], {
    env: environment,
    stdout: "ignore",
  });
  expect(await build.exited).toBe(0);
  chmodSync(home, 0o555);
  folder = tempFolder();
  if (isRoot) chownSync(folder, NOBODY, NOBODY);
});
afterAll(async () => {
  for (const served of running) {
    served.signal("SIGKILL");
    await served.exitCode;
  }
});

async function start(environment: Readonly<Record<string, string>> = {}): Promise<ServedProcess> {
  const served = await startServedProcess({
    folder,
    program: [program],
    through: AS_NOBODY,
    environment: { ...EMPTY, ...environment },
  });
  running.push(served);
  return served;
}

/** Runs a command of the executable in the folder of the gateway. */
function run(...words: readonly string[]): Promise<RanProgram> {
  return runProgram([...AS_NOBODY, program, ...words], { cwd: folder, env: EMPTY });
}

function ask(url: string, content: string): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: "demo", messages: [{ role: "user", content }] }),
  });
}

/** A model whose provider counts no tokens. */
const UNCOUNTED = `upstreams: { away: { protocol: openai, base_url: "http://127.0.0.1:9/v1", api_key: k } }
models:
  uncounted:
    routes: [{ upstream: away, model: m }]
    context_window: 100000
    max_output_tokens: 1000
    price: { input: "1", output: "1" }
`;

async function countTokens(url: string, content: string): Promise<number> {
  const messages = [{ role: "user", content }];
  const answer = await fetch(`${url}/v1/messages/count_tokens`, {
    method: "POST",
    headers: { "x-api-key": key },
    body: JSON.stringify({ model: "uncounted", messages }),
  });
  return (await answer.json()).input_tokens;
}

/** Bodies of this size are parsed by the worker, and not on the event loop. */
const LARGE = "large ".repeat(200_000);

/** The key that the first start printed. */
let key: string;

test("an executable alone in an empty folder serves, restarts and is audited, as a user without Bun", async () => {
  expect((await run("--version")).stdout).toStartWith("tollgate 0.1.0, commit c0ffee, ");
  const first = await start({ LEDGER_LISTEN: "127.0.0.1:0" });
  const printed = () => /sk-tg-[\w-]{43}/.exec(first.stderr())?.[0] ?? "";
  await until(() => printed() !== "");
  key = printed();
  const answer = await ask(first.url, "Hello, Tollgate!");
  expect(await answer.text()).toContain("You said: Hello, Tollgate!");
  expect((await ask(first.url, LARGE)).status).toBe(200);
  first.signal("SIGTERM");
  expect(await first.exitCode).toBe(0);
  for (const problem of ["fault", "capped"]) expect(first.stdout()).not.toContain(problem);

  const second = await start();
  expect(second.stderr()).toBe("");
  const receipt = `${second.url}/v1/receipts/${answer.headers.get("x-request-id")}`;
  const kept = await fetch(receipt, { headers: { "x-api-key": key } });
  expect(await kept.json()).toMatchObject({ state: "settled", outcome: "ok" });
  expect((await run("health", "--url", second.url)).exitCode).toBe(0);
  expect(await run("audit")).toMatchObject({ exitCode: 0, stderr: "" });
  expect(readdirSync(folder)).toEqual(["data"]);
});

test("an executable reads no file of the machine that built it", () => {
  // Comments name files without quotes.
  expect(readFileSync(program).includes(`"${REPOSITORY}/`)).toBe(false);
});

test("an executable counts tokens by the vocabulary inside of it", async () => {
  writeFileSync(join(folder, "tollgate.yaml"), UNCOUNTED);
  const { url } = await start();
  const word = "antidisestablishmentarianism ";
  const counter = createTokenCounter();
  const { inputTokens, outputTokens } = await counter.count({
    input: word.repeat(40),
    output: word.repeat(20),
  });
  counter.close();
  const counts = [40, 20].map((times) => countTokens(url, word.repeat(times)));
  const [longer = 0, shorter = 0] = await Promise.all(counts);
  expect(longer - shorter).toBe(inputTokens - outputTokens);
});

test("the pages of an executable are there at once, compressed ahead, and leave no file behind", async () => {
  const { url } = await start();
  const page = await fetch(`${url}/console`);
  expect(page.status).toBe(200);
  const [script = ""] = /\/console\/assets\/main-[\w]+\.js/.exec(await page.text()) ?? [];
  const asset = await fetch(url + script, { headers: { "accept-encoding": "zstd" }, decompress: false });
  expect(asset.headers.get("content-encoding")).toBe("zstd");
  expect(asset.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  expect(readdirSync(join(folder, "data"))).not.toContain("console");
});
