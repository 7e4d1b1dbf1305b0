import { chmodSync, existsSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

export interface WantedProgram {
  readonly name: string;
  /** Folders to look in before PATH; may name a folder per version with `*`. */
  readonly folders: readonly string[];
  /** Debian's package that has it. */
  readonly debianPackage: string;
  /** The variable that names a running server to use instead. */
  readonly variable: string;
}

/**
 * The path of a server's program. Where it is not installed, installs Debian's package if it may, and says
 * so on stderr; throws with what to do about it if it may not.
 */
export async function requireProgram(wanted: WantedProgram): Promise<string> {
  const found = findProgram(wanted);
  if (found) return found;
  const missing = `The tests need ${wanted.name}, which is not installed`;
  const remedy = `Install it (Debian: apt-get install ${wanted.debianPackage}), or set ${wanted.variable} to a server that tests may use.`;
  if (process.getuid?.() !== 0 || !Bun.which("apt-get")) throw new Error(`${missing}. ${remedy}`);
  console.error(
    `${missing}: installing Debian's package ${wanted.debianPackage}, without starting its service.`,
  );
  const said = await install(wanted.debianPackage);
  const installed = findProgram(wanted);
  if (!installed) throw new Error(`${missing}, and installing it failed: ${said} ${remedy}`);
  return installed;
}

function findProgram({ name, folders }: WantedProgram): string | undefined {
  const inFolders = folders.flatMap((folder) => [
    ...new Bun.Glob(`${folder}/${name}`).scanSync({ cwd: "/", absolute: true }),
  ]);
  const newest = inFolders.sort((a, b) => a.localeCompare(b, "en", { numeric: true })).at(-1);
  return newest ?? Bun.which(name) ?? undefined;
}

/** Debian's way of saying that a package which is installed must not start its service. */
const POLICY = "/usr/sbin/policy-rc.d";

/** Returns the last lines of what was said. */
async function install(name: string): Promise<string> {
  const isOurs = !existsSync(POLICY) && existsSync(dirname(POLICY));
  if (isOurs) {
    writeFileSync(POLICY, "#!/bin/sh\nexit 101\n");
    chmodSync(POLICY, 0o755);
  }
  try {
    const options = "-q -o DPkg::Lock::Timeout=300";
    const script = `apt-get ${options} update && apt-get ${options} install -y --no-install-recommends ${name}`;
    const child = Bun.spawn(["sh", "-c", `{ ${script}; } 2>&1`], {
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "ignore",
    });
    return (await new Response(child.stdout).text()).trim().split("\n").slice(-5).join("\n");
  } finally {
    if (isOurs) rmSync(POLICY, { force: true });
  }
}
