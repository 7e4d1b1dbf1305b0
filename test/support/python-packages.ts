import { requirePip } from "./other-runtimes.ts";

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
