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

/** A runtime that is not ours, and Debian's packages that have it. */
interface Wanted {
  readonly what: string;
  /** Exits with 0 where the runtime is there and is the one that is meant. */
  readonly probe: readonly string[];
  readonly packages: readonly string[];
}

/** The path of Node; not of the program that Bun puts in its place. */
export async function requireNode(): Promise<string> {
  const probe = ["node", "-e", "process.exit(typeof Bun === 'undefined' ? 0 : 1)"];
  await requireRuntime({ what: "Node", probe, packages: ["nodejs"] });
  return "node";
}

/** The path of Debian's Python, which has gRPC. */
export async function requirePython(): Promise<string> {
  const probe = ["/usr/bin/python3", "-c", "import grpc, google.protobuf"];
  const packages = ["python3-grpcio", "python3-protobuf"];
  await requireRuntime({ what: "Debian's Python with gRPC", probe, packages });
  return "/usr/bin/python3";
}

/** Python with pip, whichever comes first in PATH. */
export function requirePip(): Promise<void> {
  const probe = ["python3", "-m", "pip", "--version"];
  return requireRuntime({ what: "Python with pip", probe, packages: ["python3", "python3-pip"] });
}

/** Installs what is missing if it may, and says so on stderr; throws with what to do about it if it may not. */
async function requireRuntime({ what, probe, packages }: Wanted): Promise<void> {
  if (await succeeds(probe)) return;
  const command = [
    "apt-get",
    "-q",
    "-o",
    "DPkg::Lock::Timeout=300",
    "install",
    "-y",
    "--no-install-recommends",
    ...packages,
  ];
  const missing = `The tests need ${what}, which is not installed. Debian has it: apt-get install ${packages.join(" ")}`;
  if (process.getuid?.() !== 0 || !Bun.which("apt-get")) throw new Error(missing);
  console.error(`${missing} (which is done now).`);
  await succeeds(["apt-get", "-q", "update"]);
  if (!(await succeeds(command)) || !(await succeeds(probe)))
    throw new Error(`${missing}; installing it failed.`);
}

async function succeeds(command: readonly string[]): Promise<boolean> {
  try {
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    const run = Bun.spawn([...command], { env, stdin: "ignore", stdout: "ignore", stderr: "ignore" });
    return (await run.exited) === 0;
  } catch {
    return false;
  }
}

/** Installs Python packages into a folder, for `PYTHONPATH`. Rejects where pip cannot get them. */
export async function installPythonPackages(folder: string, packages: readonly string[]): Promise<void> {
  await requirePip();
  const flags = ["--quiet", "--disable-pip-version-check", "--root-user-action=ignore"];
  const command = ["python3", "-m", "pip", "install", ...flags, "--target", folder, ...packages];
  console.error(`A test in Python needs ${packages.join(", ")}, which pip installs now, for this run alone.`);
  const pip = Bun.spawn(command, { stdin: "ignore", stdout: "ignore", stderr: "pipe" });
  const complaint = await new Response(pip.stderr).text();
  if ((await pip.exited) !== 0) throw new Error(`Cannot install them: ${complaint}`);
}
