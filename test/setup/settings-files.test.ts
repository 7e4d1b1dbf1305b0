import { beforeEach, describe, expect, test } from "bun:test";
import { chownSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lockSettings, readSettingsFile, replaceSettingsFile } from "../../src/setup/settings-files.ts";
import { runProgram } from "../support/run-program.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { TOLLGATE } from "../support/tollgate-command.ts";

let file = "";
beforeEach(() => {
  file = join(tempFolder(), "tollgate.yaml");
});
const replace = (before: string, after: string) =>
  lockSettings(file, () => replaceSettingsFile(file, before, after));

/** Runs a command that may write files of so many KiB, so that a longer write ends short as on a full disk. */
function runWithin(kibibytes: number, words: readonly string[], folder: string) {
  const limited = `trap '' XFSZ; ulimit -f ${kibibytes * 2}; exec "$@"`;
  const env = { LEDGER_LISTEN: "off", METRICS_LISTEN: "off" };
  return runProgram(["sh", "-c", limited, "sh", ...TOLLGATE, ...words], { cwd: folder, env });
}

describe("a file that does not fit on the disk", () => {
  const folderOf = () => join(file, "..");

  test("stays as it was, without a draft beside it", async () => {
    const before = `# ${"x".repeat(4_050)}\nmodels: {}\n`;
    writeFileSync(file, before);
    const added = await runWithin(4, ["models", "add", "openai/gpt-4.1"], folderOf());
    expect(added.stderr).toMatch(/^\S+ cannot be written\. Nothing was written\.\n$/);
    expect(readFileSync(file, "utf8")).toBe(before);
    expect(readdirSync(folderOf()).sort()).toEqual([".tollgate.lock", "tollgate.yaml"]);
  });

  test("is not begun by an import", async () => {
    const models = Array.from({ length: 60 }, (_, n) => ({
      model_name: `a-name-of-a-model-${n}`,
      litellm_params: { model: "openai/gpt-4.1" },
    }));
    writeFileSync(join(folderOf(), "config.json"), JSON.stringify({ model_list: models }));
    const imported = await runWithin(4, ["import", "litellm", "config.json"], folderOf());
    expect(imported).toMatchObject({ exitCode: 1, stderr: "tollgate.yaml cannot be written.\n" });
    expect(readdirSync(folderOf()).sort()).toEqual([".tollgate.lock", "config.json"]);
  });
});

test("a replaced file keeps its rights, whatever the process gives new files", () => {
  writeFileSync(file, "a", { mode: 0o664 });
  const isRoot = process.getuid?.() === 0;
  if (isRoot) chownSync(file, 0, 1);
  const former = statSync(file);
  const umask = process.umask(0o077);
  try {
    replace("a", "b");
  } finally {
    process.umask(umask);
  }
  const { mode, uid, gid } = statSync(file);
  expect({ mode, uid, gid }).toEqual({ mode: former.mode, uid: former.uid, gid: former.gid });
});

test("a file that is no UTF-8 is refused, and a byte order mark is kept", () => {
  writeFileSync(file, Buffer.from("# Schl\xfcssel\n", "latin1"));
  expect(() => readSettingsFile(file)).toThrow("is no text in UTF-8");
  writeFileSync(file, "\uFEFFlog: {}\n");
  expect(readSettingsFile(file)).toBe("\uFEFFlog: {}\n");
});
