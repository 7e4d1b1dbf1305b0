import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runProgram } from "../support/run-program.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { REPOSITORY } from "./pages.ts";
import { GO_OPTIONS } from "./tutorial-blocks.ts";

/** Plugins of this repository's compiler of protos, kept between runs. */
const PLUGINS = join(REPOSITORY, "node_modules/.cache/go");
const MODULES = {
  "github.com/google/uuid": "v1.6.0",
  "google.golang.org/grpc": "v1.85.0",
  "google.golang.org/protobuf": "v1.36.12",
};
const PLUGIN_PACKAGES = [
  "google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12",
  "google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.6.2",
];

/** Builds a program with the generated package of the ledger's proto, and returns its path. */
export async function buildGoService(program: string): Promise<string> {
  const folder = tempFolder();
  cpSync(join(REPOSITORY, "proto"), join(folder, "proto"), { recursive: true });
  writeFileSync(join(folder, "main.go"), program);
  const requires = Object.entries(MODULES).map(([name, version]) => `require ${name} ${version}\n`);
  writeFileSync(join(folder, "go.mod"), `module example.com/service\n\ngo 1.24\n\n${requires.join("")}`);
  for (const name of PLUGIN_PACKAGES) await run(folder, ["go", "install", name]);
  await run(folder, [
    join(REPOSITORY, "node_modules/.bin/buf"),
    ...["generate", "proto", "--path", "proto/tollgate", "--template"],
    JSON.stringify({ version: "v2", plugins: [readPlugin("go"), readPlugin("go-grpc")] }),
  ]);
  await run(folder, ["go", "build", "-mod=mod", "-o", "service", "."]);
  return join(folder, "service");
}

/** Returns a plugin of the tutorial's command line. */
function readPlugin(name: string) {
  const options = GO_OPTIONS.text.matchAll(new RegExp(`--${name}_opt=(\\S+)`, "g"));
  return { local: `protoc-gen-${name}`, out: ".", opt: Array.from(options, ([, option]) => option) };
}

async function run(folder: string, command: readonly string[]): Promise<void> {
  const env = { ...process.env, GOBIN: PLUGINS, PATH: `${PLUGINS}:${process.env.PATH}` };
  const { exitCode, stderr } = await runProgram(command, { cwd: folder, env });
  if (exitCode !== 0) throw new Error(`${command.slice(0, 3).join(" ")} failed: ${stderr}`);
}
