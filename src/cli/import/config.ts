import { existsSync } from "node:fs";
import { readKnownModels } from "../../catalog/known-models.ts";
import { AdditionError } from "../../config/add-entries.ts";
import { createProblems } from "../../config/problems.ts";
import { parseYaml } from "../../config/yaml.ts";
import { lockSettings, readSettingsFile, replaceSettingsFile } from "../../setup/settings-files.ts";
import { CommandError, type CommandResult } from "../command.ts";
import { convertBifrost } from "./bifrost.ts";
import { findForeignSlug } from "./foreign-routes.ts";
import { convertHelicone } from "./helicone.ts";
import { type ConvertedConfig, convertLitellmConfig } from "./litellm-config.ts";
import { convertOpenrouter, type OpenrouterOptions } from "./openrouter.ts";
import { convertPortkey } from "./portkey.ts";
import { placeholderOf } from "./providers.ts";
import type { Row } from "./table.ts";
import { readText } from "./text-file.ts";
import { compareUsage, printComparison, readUsage, type UsedModel } from "./usage-money.ts";

export interface ConfigImportOptions extends OpenrouterOptions {
  /** The file to write. Default: tollgate.yaml. */
  readonly to?: string;
  /** LiteLLM's table of prices, in JSON. */
  readonly prices?: string;
  /** Prints the file, and writes nothing. */
  readonly dryRun?: boolean;
  /** Usage that the other gateway exports, whose money is compared. */
  readonly usage?: string;
}

const TITLES: Readonly<Record<ConfigSource, string>> = {
  litellm: "LiteLLM",
  openrouter: "OpenRouter",
  portkey: "Portkey",
  bifrost: "Bifrost",
  helicone: "Helicone",
};

/** The other gateways whose configuration or export makes a file. */
type ConfigSource = "litellm" | "openrouter" | "portkey" | "bifrost" | "helicone";

function convert(
  source: ConfigSource,
  path: string,
  { used, ...options }: ConfigImportOptions & { readonly used: readonly UsedModel[] },
): ConvertedConfig {
  switch (source) {
    case "litellm":
      return convertLitellmConfig(
        readYaml(path),
        options.prices === undefined ? {} : readYaml(options.prices),
      );
    case "openrouter":
      return convertOpenrouter(used, options);
    case "portkey":
      return convertPortkey(readYaml(path));
    case "bifrost":
      return convertBifrost(readYaml(path));
    case "helicone":
      return convertHelicone(readYaml(path));
  }
}

/** Compares the money of what was used with the prices here. */
function compareMoney(used: readonly UsedModel[]) {
  const known = readKnownModels();
  return printComparison(compareUsage(used, (model) => findForeignSlug(known, model)));
}

/** Imports the configuration of another gateway into a new file. A file with the same text is left as it is. */
export function importConfig(
  source: ConfigSource,
  path: string,
  options: ConfigImportOptions,
): CommandResult {
  const { to = "tollgate.yaml", dryRun = false } = options;
  const used = source === "openrouter" ? readUsage(path) : [];
  const converted = convert(source, path, { ...options, used });
  const { upstreams, models, problems, notes } = converted;
  requirePlain(converted, path);
  const compared = options.usage === undefined ? used : readUsage(options.usage);
  const money = compared.length > 0 ? compareMoney(compared) : undefined;
  const text = printConfig(source, converted);
  const names = { upstreams: Object.keys(upstreams), models: Object.keys(models) };
  const written = names.models.length > 0 && !dryRun && writeNew(to, text);
  const lines = [
    ...(dryRun ? [text] : [describeWrite(written, names.models.length, to)]),
    ...(dryRun ? [] : notes),
    ...(problems.length > 0 ? ["Not imported:", ...problems.map((problem) => `  ${problem}`)] : []),
    ...(money ? ["", money.text] : []),
  ];
  const file = dryRun ? { file: text } : {};
  const json = {
    ...names,
    problems,
    notes,
    to,
    written,
    dry_run: dryRun,
    ...file,
    ...(money && { money: money.json }),
  };
  return { json, text: lines.join("\n"), failed: problems.length > 0 };
}

/**
 * Throws CommandError for a text with a placeholder inside of it: no other gateway has them, and a start would send the
 * variable to whatever address the text names. A whole setting of an upstream may be one.
 */
function requirePlain({ upstreams, models }: ConvertedConfig, path: string): void {
  const settings = Object.values(upstreams).flatMap((each) => Object.values(each).map(String));
  const texts = settings.filter((text) => placeholderOf(text) === undefined);
  if ([...texts, JSON.stringify(models)].some((text) => text.includes("${")))
    throw new CommandError(`${path} has "\${" inside of a text: write there what it stands for.`);
}

function describeWrite(written: boolean, count: number, to: string): string {
  if (count === 0) return "No model can be imported: nothing was written.";
  return written ? `Wrote ${count} models to ${to}.` : `${to} has these ${count} models already.`;
}

/** Returns whether the file was written, whole or not at all. Throws when it exists with another content. */
function writeNew(to: string, text: string): boolean {
  try {
    return lockSettings(to, () => {
      if (!existsSync(to)) replaceSettingsFile(to, "", text);
      else if (readSettingsFile(to) === text) return false;
      else throw new AdditionError(`${to} exists with other content: name another file with --to.`);
      return true;
    });
  } catch (error) {
    if (error instanceof AdditionError) throw new CommandError(error.message);
    throw error;
  }
}

/** Reads a YAML or JSON file. Its problems are reported without its values. */
function readYaml(path: string): Row {
  const text = readText(path);
  const problems = createProblems();
  const document = parseJson(text) ?? parseYaml(text, path, problems);
  const [problem] = problems.list();
  if (problem) throw new CommandError(`${problem}.`);
  if (typeof document !== "object" || document === null || Array.isArray(document)) {
    throw new CommandError(`${path} is no mapping of settings.`);
  }
  return document as Row;
}

/** JSON needs no YAML parser, whose bounds a price table exceeds. Returns `undefined` for YAML, also in braces. */
function parseJson(text: string): unknown {
  try {
    return text.trimStart().startsWith("{") ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

/** Prints a configuration, with what is not imported in comments. Values are JSON, which is YAML too. */
function printConfig(source: ConfigSource, { upstreams, models, problems, notes }: ConvertedConfig): string {
  const comments = [
    `Imported from ${TITLES[source]}. Check it with: bun tollgate check`,
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
