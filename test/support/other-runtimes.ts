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
