import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** The root folder of the repository. */
export const REPOSITORY = resolve(import.meta.dir, "../..");

/** A fenced block, as a reader would paste it. */
export interface Snippet {
  readonly language: string;
  readonly text: string;
}

/** One Markdown page of the documentation. */
export interface Page {
  /** Path from the repository's root, as in "docs/errors.md". */
  readonly path: string;
  readonly text: string;
  readonly snippets: readonly Snippet[];
  /** The one block that contains `mark`. Throws for none and for several. */
  snippet(mark: string): Snippet;
  /** Cells of the table whose first column is named `head`, without the header rows. Throws for none. */
  table(head: string): readonly (readonly string[])[];
}

/** Every Markdown page: those at the top level and those under docs/, sorted by path. */
export function readPages(): readonly Page[] {
  const top = readdirSync(REPOSITORY).filter((name) => name.endsWith(".md"));
  const docs = readdirSync(join(REPOSITORY, "docs"), { recursive: true, encoding: "utf8" });
  const below = docs.filter((name) => name.endsWith(".md")).map((name) => join("docs", name));
  return [...top, ...below].sort().map(readPage);
}

export function readPage(path: string): Page {
  const text = readFileSync(join(REPOSITORY, path), "utf8");
  const snippets = [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(
    ([, language = "", body = ""]): Snippet => ({ language, text: body }),
  );
  return {
    path,
    text,
    snippets,
    snippet(mark) {
      const [found, ...others] = snippets.filter((snippet) => snippet.text.includes(mark));
      if (!found || others.length > 0) throw new Error(`${path} needs exactly one block with: ${mark}`);
      return found;
    },
    table(head) {
      const lines = text.split("\n");
      const start = lines.findIndex((line) => line.startsWith(`| ${head} |`));
      if (start < 0) throw new Error(`${path} has no table with the head: ${head}`);
      const end = lines.findIndex((line, index) => index > start && !line.startsWith("|"));
      return lines.slice(start + 2, end < 0 ? undefined : end).map(readCells);
    },
  };
}

/** The texts between backticks in a table cell. */
export function codesOf(cell = ""): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
}

function readCells(line: string): string[] {
  return line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());
}

/**
 * Fails unless it is called with the pinned version of Bun, and runs the installed Bun. Downloads nothing.
 */
const NPX = `#!/bin/sh
[ "$1 $2" = "--yes ${packageManager}" ] || { echo "npx $*" >&2; exit 1; }
shift 2
exec bun "$@"
`;

/** Sends the requests of Claude Code to both models of its environment variables. */
const CLAUDE = `#!/bin/sh
for model in "$ANTHROPIC_MODEL" "$ANTHROPIC_DEFAULT_HAIKU_MODEL"; do
  curl -sS "$ANTHROPIC_BASE_URL/v1/messages?beta=true" -H "authorization: Bearer $ANTHROPIC_AUTH_TOKEN" \\
    -H "anthropic-version: 2023-06-01" \\
    -d '{"model": "'"$model"'", "max_tokens": 32000, "messages": [{"role": "user", "content": "'"$2"'"}]}'
done
`;

interface Pasted {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A shell in the repository, and an empty project that has the packages installed. */
export interface ReadmeShell {
  /** Runs lines in the shell. */
  paste(text: string, environment: Readonly<Record<string, string>>): Promise<Pasted>;
  /** Runs a TypeScript snippet as a file of the project. */
  run(text: string, environment: Readonly<Record<string, string>>): Promise<Pasted>;
  /** The environment variables of both, without those passed to a call. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Creates a shell that keeps all its files below `folder`, the database included. */
export function createReadmeShell(folder: string): ReadmeShell {
  const bin = join(folder, "bin");
  const project = join(folder, "project");
  for (const path of [bin, project]) mkdirSync(path);
  symlinkSync(process.execPath, join(bin, "bun"));
  writeProgram(join(bin, "npx"), NPX);
  writeProgram(join(bin, "claude"), CLAUDE);
  symlinkSync(join(REPOSITORY, "node_modules"), join(project, "node_modules"));
  const environment = {
    PATH: `${bin}:${process.env.PATH}`,
    HOME: folder,
    PORT: "0",
    LEDGER_LISTEN: "off",
    METRICS_LISTEN: "off",
    DATABASE_URL: `sqlite:${join(folder, "data/tollgate.db")}`,
    // A configuration file of the developer in the repository would replace the demo.
    TOLLGATE_CONFIG: "/dev/null",
  };
  return {
    environment,
    paste: (text, extra) =>
      finish(["sh", "-ec", text], { cwd: REPOSITORY, env: { ...environment, ...extra } }),
    run(text, extra) {
      const file = join(project, `${Bun.hash(text)}.ts`);
      writeFileSync(file, text);
      return finish([process.execPath, file], { cwd: project, env: { ...environment, ...extra } });
    },
  };
}

function writeProgram(path: string, text: string): void {
  writeFileSync(path, text);
  chmodSync(path, 0o755);
}

async function finish(
  command: string[],
  options: { cwd: string; env: Record<string, string> },
): Promise<Pasted> {
  const child = Bun.spawn(command, { ...options, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { exitCode, stdout, stderr };
}
