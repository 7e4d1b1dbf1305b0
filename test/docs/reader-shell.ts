import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { packageManager } from "../../package.json";
import { type RanProgram, runProgram } from "../support/run-program.ts";
import { TOLLGATE } from "../support/tollgate-command.ts";
import { REPOSITORY } from "./pages.ts";

/** Stands in for Bun: the script `tollgate` starts the program as other tests do, which costs half of the CPU. */
const BUN = `#!/bin/sh
[ "$1" = tollgate ] && { shift; exec ${TOLLGATE.join(" ")} "$@"; }
exec ${process.execPath} "$@"
`;

/** Stands in for npx: runs the installed Bun, and fails for any version but the one of package.json. */
const NPX = `#!/bin/sh
[ "$1 $2" = "--yes ${packageManager}" ] || { echo "npx $*" >&2; exit 1; }
shift 2
exec bun "$@"
`;

/** Stands in for Claude Code: sends its request to both models named in the environment. */
const CLAUDE = `#!/bin/sh
for model in "$ANTHROPIC_MODEL" "$ANTHROPIC_DEFAULT_HAIKU_MODEL"; do
  curl -sS "$ANTHROPIC_BASE_URL/v1/messages?beta=true" -H "authorization: Bearer $ANTHROPIC_AUTH_TOKEN" \\
    -H "anthropic-version: 2023-06-01" \\
    -d '{"model": "'"$model"'", "max_tokens": 32000, "messages": [{"role": "user", "content": "'"$2"'"}]}'
done
`;

/** A reader's shell: in the repository, and in an empty project that has the packages installed. */
export interface ReaderShell {
  /** Runs lines in the repository, unchanged. */
  paste(text: string, environment: Readonly<Record<string, string>>): Promise<RanProgram>;
  /** Runs a TypeScript snippet as a file of the reader's project. */
  run(text: string, environment: Readonly<Record<string, string>>): Promise<RanProgram>;
  /** Environment of both; calls may add to it. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Creates a shell whose programs, project and database are kept in `folder`. */
export function createReaderShell(folder: string): ReaderShell {
  const bin = join(folder, "bin");
  const project = join(folder, "project");
  for (const path of [bin, project]) mkdirSync(path);
  writeProgram(join(bin, "bun"), BUN);
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
    // A file of the developer's own in the repository would replace the demo.
    TOLLGATE_CONFIG: "/dev/null",
  };
  return {
    environment,
    paste: (text, extra) =>
      runProgram(["sh", "-ec", text], { cwd: REPOSITORY, env: { ...environment, ...extra } }),
    run(text, extra) {
      const file = join(project, `${Bun.hash(text)}.ts`);
      writeFileSync(file, text);
      return runProgram([process.execPath, file], { cwd: project, env: { ...environment, ...extra } });
    },
  };
}

function writeProgram(path: string, text: string): void {
  writeFileSync(path, text);
  chmodSync(path, 0o755);
}
