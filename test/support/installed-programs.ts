import { chmodSync, existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Python packages that tests use, beside the installed packages. */
const CACHE = join(import.meta.dir, "../../node_modules/.cache/python");

/** A server program, and where to find or get it. */
export interface WantedProgram {
  readonly name: string;
  /** Folders to search before PATH. `*` matches the folder of any version. */
  readonly folders: readonly string[];
  /** The Debian package that contains the program. */
  readonly debianPackage: string;
  /** The environment variable that names a running server to use instead; absent for a tool. */
  readonly variable?: string;
}

/**
 * Returns the path of a server program. Installs its Debian package as root when it is missing, and logs that
 * to stderr. Throws an error with the remedy when it cannot install.
 */
export async function requireProgram(wanted: WantedProgram): Promise<string> {
  const found = findProgram(wanted);
  if (found) return found;
  const missing = `The tests need ${wanted.name}, which is not installed`;
  const instead = wanted.variable && `, or set ${wanted.variable} to a server that tests may use`;
  const remedy = `Install it (Debian: apt-get install ${wanted.debianPackage})${instead ?? ""}.`;
  if (process.getuid?.() !== 0 || !Bun.which("apt-get")) throw new Error(`${missing}. ${remedy}`);
  console.error(
    `${missing}: installing Debian's package ${wanted.debianPackage}, without starting its service.`,
  );
  const output = await install(wanted.debianPackage);
  const installed = findProgram(wanted);
  if (!installed) throw new Error(`${missing}, and installing it failed: ${output} ${remedy}`);
  return installed;
}

function findProgram({ name, folders }: WantedProgram): string | undefined {
  const inFolders = folders.flatMap((folder) => [
    ...new Bun.Glob(`${folder}/${name}`).scanSync({ cwd: "/", absolute: true }),
  ]);
  const newest = inFolders.sort((a, b) => a.localeCompare(b, "en", { numeric: true })).at(-1);
  return newest ?? Bun.which(name) ?? undefined;
}

/** While this script exists, Debian does not start the service of a package that it installs. */
const POLICY = "/usr/sbin/policy-rc.d";

/** Returns the last five lines of the output. */
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

/** A language runtime, and the Debian packages that contain it. */
interface Wanted {
  readonly what: string;
  /** Exits with 0 when the runtime is installed. */
  readonly probe: readonly string[];
  readonly packages: readonly string[];
}

/** Installs Node if needed and returns its path. Rejects the `node` that Bun substitutes. */
export async function requireNode(): Promise<string> {
  const probe = ["node", "-e", "process.exit(typeof Bun === 'undefined' ? 0 : 1)"];
  await requireRuntime({ what: "Node", probe, packages: ["nodejs"] });
  return "node";
}

/** Installs Debian's Python with gRPC if needed and returns its path. */
export async function requirePython(): Promise<string> {
  const probe = ["/usr/bin/python3", "-c", "import grpc, google.protobuf"];
  const packages = ["python3-grpcio", "python3-protobuf"];
  await requireRuntime({ what: "Debian's Python with gRPC", probe, packages });
  return "/usr/bin/python3";
}

/** Installs Python with pip if needed. Uses the first `python3` in PATH. */
export function requirePip(): Promise<void> {
  const probe = ["python3", "-m", "pip", "--version"];
  return requireRuntime({ what: "Python with pip", probe, packages: ["python3", "python3-pip"] });
}

/** Installs missing packages as root, and logs that to stderr. Throws an error with the remedy otherwise. */
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

/** Returns a folder for `PYTHONPATH` with Python packages, installed once a month. Rejects when pip fails. */
export async function requirePythonPackages(packages: readonly string[]): Promise<string> {
  await requirePython();
  const month = new Date().toISOString().slice(0, 7);
  const folder = join(CACHE, `${month}-${Bun.hash(packages.join(" ")).toString(36)}`);
  if (existsSync(folder)) return folder;
  const draft = `${folder}.${crypto.randomUUID()}`;
  await installPythonPackages(draft, packages);
  // Another run may have installed them meanwhile.
  if (!existsSync(folder)) renameSync(draft, folder);
  return folder;
}

async function installPythonPackages(folder: string, packages: readonly string[]): Promise<void> {
  await requirePip();
  // Python compiles what a test imports, which is a tenth of the packages.
  const flags = ["--quiet", "--no-compile", "--disable-pip-version-check", "--root-user-action=ignore"];
  const command = ["python3", "-m", "pip", "install", ...flags, "--target", folder, ...packages];
  console.error(
    `A test in Python needs ${packages.join(", ")}, which pip installs now, for this checkout alone.`,
  );
  const pip = Bun.spawn(command, { stdin: "ignore", stdout: "ignore", stderr: "pipe" });
  const complaint = await new Response(pip.stderr).text();
  if ((await pip.exited) !== 0) throw new Error(`Cannot install them: ${complaint}`);
}
