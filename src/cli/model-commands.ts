import { type Command, InvalidArgumentError, Option } from "commander";
import { CAPABILITIES, type Capability } from "../domain/model.ts";
import { parsePrice } from "../domain/money.ts";
import { printResult } from "./command.ts";
import type { ModelsAddOptions } from "./models/add.ts";
import type { ModelsOptions } from "./models/list.ts";
import { JSON_OPTION, type JsonOption, parseCount, parseNames, withJson } from "./options.ts";

const MODES = ["chat", "embedding", "rerank", "moderation", "image", "speech", "transcription"];

/** Adds the commands of known models. `models` alone lists: words that name no command are searched for. */
export function addModelCommands(program: Command): void {
  const models = program.command("models").description("known models, their limits and costs");
  models
    .command("list", { isDefault: true })
    .description("list and search known models")
    .option(...JSON_OPTION)
    .argument("[words...]", "parts of an id, all of which it must have")
    .option("--provider <name>", "provider, such as anthropic, azure or bedrock")
    .addOption(new Option("--mode <mode>", "what a model is for").choices(MODES))
    .option("--can <abilities>", `separated by commas: ${CAPABILITIES.join(", ")}`, parseAbilities)
    .option("--max-input-cost <usd>", "most USD per million tokens of input", parseCost)
    .action(async (words: string[], options: ModelsOptions & JsonOption) =>
      printResult((await import("./models/list.ts")).runModels(words, options), options),
    );
  withJson(models, "show", "show everything that is known of one model")
    .argument("<id>", "id of a known model, such as anthropic/claude-sonnet-4-5")
    .action(async (id: string, options: JsonOption) =>
      printResult((await import("./models/list.ts")).runModelsShow(id), options),
    );
  withJson(models, "add", "add known models to the configuration file")
    .argument("<ids...>", "ids of known models")
    .option("--upstream <name>", "upstream of the models (default: one of their provider)")
    .option("--as <name>", "name of one model for clients (default: the last part of its id)")
    .option(
      "--context-window <tokens>",
      "context window of one model, where the catalog has none",
      parseCount,
    )
    .option(
      "--max-output-tokens <tokens>",
      "output limit of one model, where the catalog has none",
      parseCount,
    )
    .action(async (ids: string[], options: ModelsAddOptions & JsonOption) =>
      printResult((await import("./models/add.ts")).runModelsAdd(ids, options), options),
    );
  withJson(models, "diff", "compare costs and limits of the configuration with the catalog").action(
    async (options: JsonOption) => printResult((await import("./models/diff.ts")).runModelsDiff(), options),
  );
}

function parseAbilities(text: string): readonly Capability[] {
  return parseNames(text).map((name) => {
    const found = CAPABILITIES.find((capability) => capability === name);
    if (!found) throw new InvalidArgumentError(`Expected some of ${CAPABILITIES.join(", ")}.`);
    return found;
  });
}

function parseCost(text: string): string {
  try {
    parsePrice(text);
    return text;
  } catch {
    throw new InvalidArgumentError("Expected USD per million tokens, such as 3.00.");
  }
}
