import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createProblems } from "../../config/problems.ts";
import { parseYaml } from "../../config/yaml.ts";
import { CommandError, type CommandResult } from "../command.ts";
import { type ConvertedConfig, convertLitellmConfig } from "./litellm-config.ts";
import { type Row, readText } from "./table.ts";

export interface ConfigImportOptions {
  /** The file to write. Default: tollgate.yaml. */
  readonly to?: string;
  /** LiteLLM's table of prices, in JSON. */
  readonly prices?: string;
  /** Prints the file, and writes nothing. */
  readonly dryRun?: boolean;
}

/** Imports the configuration of LiteLLM's proxy into a new file. A file with the same text is left as it is. */
export function importLitellmConfig(
  path: string,
  { to = "tollgate.yaml", prices, dryRun = false }: ConfigImportOptions,
): CommandResult {
  const converted = convertLitellmConfig(readYaml(path), prices === undefined ? {} : readYaml(prices));
  const { upstreams, models, problems, notes } = converted;
  const text = printConfig(converted);
  const names = { upstreams: Object.keys(upstreams), models: Object.keys(models) };
  const written = names.models.length > 0 && !dryRun && writeNew(to, text);
  const lines = [
    ...(dryRun ? [text] : [describeWrite(written, names.models.length, to)]),
    ...(dryRun ? [] : notes),
    ...(problems.length > 0 ? ["Not imported:", ...problems.map((problem) => `  ${problem}`)] : []),
  ];
  const json = { ...names, problems, notes, to, written, dry_run: dryRun, ...(dryRun ? { file: text } : {}) };
  return { json, text: lines.join("\n"), failed: problems.length > 0 };
}

function describeWrite(written: boolean, count: number, to: string): string {
  if (count === 0) return "No model can be imported: nothing was written.";
  return written ? `Wrote ${count} models to ${to}.` : `${to} has these ${count} models already.`;
}

/** Returns whether the file was written. Throws when it exists with another content. */
function writeNew(to: string, text: string): boolean {
  if (existsSync(to)) {
    if (readFileSync(to, "utf8") === text) return false;
    throw new CommandError(`${to} exists with other content: name another file with --to.`);
  }
  writeFileSync(to, text, { flag: "wx", mode: 0o640 });
  return true;
}

/** Reads a YAML or JSON file. Its problems are reported without its values. */
function readYaml(path: string): Row {
  const text = readText(path);
  const problems = createProblems();
  const document = text.trimStart().startsWith("{") ? parseJson(text) : parseYaml(text, path, problems);
  const [problem] = problems.list();
  if (problem) throw new CommandError(`${problem}.`);
  if (typeof document !== "object" || document === null || Array.isArray(document)) {
    throw new CommandError(`${path} is no mapping of settings.`);
  }
  return document as Row;
}

/** JSON needs no YAML parser, whose bounds a price table exceeds. YAML that begins with a brace is tried later. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return parseYaml(text, "the file", createProblems());
  }
}

/** Prints a configuration, with what is not imported in comments. Values are JSON, which is YAML too. */
function printConfig({ upstreams, models, problems, notes }: ConvertedConfig): string {
  const comments = [
    "Imported from LiteLLM. Check it with: bun tollgate check",
    ...notes,
    ...(problems.length > 0 ? ["Not imported:", ...problems.map((problem) => `  ${problem}`)] : []),
  ];
  const section = (name: string, members: Readonly<Record<string, unknown>>) => [
    `${name}:`,
    ...Object.entries(members).map(([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)}`),
  ];
  return `${[
    ...comments.map((line) => `# ${line.replace(/[\p{Cc}\u2028\u2029]/gu, " ")}`),
    ...section("upstreams", upstreams),
    ...section("models", models),
  ].join("\n")}\n`;
}
