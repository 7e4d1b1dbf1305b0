import { rm } from "node:fs/promises";
import { join } from "node:path";
import { Glob } from "bun";

const ROOT = join(import.meta.dir, "..");
const OPTIONS = [
  "--enums=String",
  "--defaults",
  "--arrays",
  "--oneofs",
  "--grpcLib=@grpc/grpc-js",
  "--importFileExtension=.ts",
];

/**
 * Empties a folder and generates into it: the types of the protos, all of them in messages.ts too, and
 * ledger.binpb, the descriptors that reflection serves. Rejects when a generator fails.
 */
export async function generate(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await run("proto-loader-gen-types", [
    ...OPTIONS,
    `--outDir=${folder}`,
    "--includeDirs=proto",
    "--",
    "tollgate/ledger/v1/ledger.proto",
    "google/rpc/error_details.proto",
  ]);
  await run("buf", [
    "build",
    "proto",
    "--as-file-descriptor-set",
    "--exclude-source-info",
    `--output=${join(folder, "ledger.binpb")}`,
  ]);
  // Index files for another way of loading protos.
  await Promise.all(["ledger.ts", "error_details.ts"].map((file) => rm(join(folder, file))));
  const files = (await Array.fromAsync(new Glob("**/*.ts").scan(folder))).sort();
  await Bun.write(
    join(folder, "messages.ts"),
    files.map((file) => `export type * from "./${file}";\n`).join(""),
  );
}

async function run(program: string, words: readonly string[]): Promise<void> {
  const command = [join(ROOT, "node_modules/.bin", program), ...words];
  const child = Bun.spawn(command, { cwd: ROOT, stdout: "ignore", stderr: "inherit" });
  if ((await child.exited) !== 0) throw new Error(`Cannot generate from the protos: ${program} failed`);
}

if (import.meta.main) await generate(join(ROOT, "src/gen"));
