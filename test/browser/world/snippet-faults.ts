interface SnippetFacts {
  /** The gateway's true address. */
  readonly url: string;
  readonly secret: string;
}

/** Returns what is wrong with the code of a tab, as its own tool reads it; `undefined` for nothing. */
export async function findSnippetFault(
  title: string,
  code: string,
  { url, secret }: SnippetFacts,
): Promise<string | undefined> {
  const check = CHECKS[title];
  if (!check) return `${title} has no check`;
  if (!code.includes(url)) return `${title} lacks the address ${url}`;
  try {
    return await check(code, { url, secret });
  } catch (fault) {
    return `${title}: ${fault}`;
  }
}

type Check = (code: string, facts: SnippetFacts) => Promise<string | undefined> | string | undefined;

const CHECKS: Readonly<Record<string, Check>> = {
  curl: runCurl,
  "OpenAI · Python": checkPython,
  "OpenAI · JS": (code) => checkScript(code),
  "Anthropic · Python": checkPython,
  "Anthropic · JS": (code) => checkScript(code),
  "Google · Python": checkPython,
  "Google · JS": (code) => checkScript(code),
  "Claude Code": checkShell,
  Codex: checkCodex,
  "Codex · WebSocket": checkCodex,
  "Codex · built-in provider": (code, { url }) =>
    findOtherAddress(Bun.TOML.parse(code), ["openai_base_url"], `${url}/v1`),
  "Gemini CLI": checkShell,
  opencode: (code, { url }) =>
    findOtherAddress(JSON.parse(code), ["provider", "tollgate", "options", "baseURL"], `${url}/v1`),
  "Qwen Code": (code, { url }) =>
    findOtherAddress(JSON.parse(code), ["modelProviders", "openai", "0", "baseUrl"], `${url}/v1`),
  Cline: checkShell,
  Continue: (code, { url }) =>
    findOtherAddress(Bun.YAML.parse(code), ["models", "0", "apiBase"], `${url}/v1`),
  Zed: (code, { url }) =>
    findOtherAddress(
      JSON.parse(code),
      ["language_models", "openai_compatible", "Tollgate", "api_url"],
      `${url}/v1`,
    ),
};

/** The command is run as it stands, and must bring an answer of the gateway. */
async function runCurl(code: string): Promise<string | undefined> {
  const shell = Bun.spawn(["sh", "-c", code], { stdout: "pipe", stderr: "ignore" });
  const answer = JSON.parse(await new Response(shell.stdout).text());
  return typeof answer.choices?.[0]?.message?.content === "string" ? undefined : JSON.stringify(answer);
}

/** Python parses the code where it is installed. */
function checkPython(code: string): Promise<string | undefined> | undefined {
  const python = Bun.which("python3");
  return python === null
    ? undefined
    : run([python, "-c", "import ast, sys; ast.parse(sys.stdin.read())"], code);
}

function checkScript(code: string): undefined {
  new Bun.Transpiler({ loader: "js" }).transformSync(code);
}

function checkShell(code: string): Promise<string | undefined> {
  return run(["sh", "-n"], code);
}

function checkCodex(code: string, { url }: SnippetFacts): string | undefined {
  return findOtherAddress(Bun.TOML.parse(code), ["model_providers", "tollgate", "base_url"], `${url}/v1`);
}

/** Returns the address at a path of settings where it is not the expected one. */
function findOtherAddress(settings: unknown, path: readonly string[], expected: string): string | undefined {
  const found = path.reduce<unknown>((value, name) => Object(value)[name], settings);
  return found === expected ? undefined : `it calls ${found}`;
}

/** Returns what the program writes to stderr when it refuses its input. */
async function run(command: readonly string[], input: string): Promise<string | undefined> {
  const child = Bun.spawn([...command], { stdin: new Blob([input]), stderr: "pipe" });
  const [text, exitCode] = await Promise.all([new Response(child.stderr).text(), child.exited]);
  return exitCode === 0 ? undefined : text;
}
