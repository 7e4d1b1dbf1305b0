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
  "Anthropic · JS": (code) => checkScript(code),
  "Claude Code": (code) => run(["sh", "-n"], code),
  Codex: checkCodex,
  opencode: checkOpencode,
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

function checkCodex(code: string, { url }: SnippetFacts): string | undefined {
  const { model_providers: providers } = Bun.TOML.parse(code) as {
    readonly model_providers: { readonly tollgate: { readonly base_url: string } };
  };
  return providers.tollgate.base_url === `${url}/v1` ? undefined : `it calls ${providers.tollgate.base_url}`;
}

function checkOpencode(code: string, { url }: SnippetFacts): string | undefined {
  const { baseURL } = JSON.parse(code).provider.tollgate.options;
  return baseURL === `${url}/v1` ? undefined : `it calls ${baseURL}`;
}

/** Returns what the program writes to stderr when it refuses its input. */
async function run(command: readonly string[], input: string): Promise<string | undefined> {
  const child = Bun.spawn([...command], { stdin: new Blob([input]), stderr: "pipe" });
  const [text, exitCode] = await Promise.all([new Response(child.stderr).text(), child.exited]);
  return exitCode === 0 ? undefined : text;
}
