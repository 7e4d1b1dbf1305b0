import type { Command } from "commander";
import {
  ACCOUNT,
  onStorage,
  orWord,
  parseAmount,
  parseCount,
  parseDays,
  parseName,
  parseNames,
  parsePeriod,
  parseTiers,
  withJson,
} from "./options.ts";
import { RESET } from "./project-commands.ts";

const KEY_ARGUMENT = "its id, its hint if unique, or its secret";

/** Adds the commands of API keys. */
export function addKeyCommands(key: Command): void {
  withJson(key, "create", "create a key and print it once")
    .requiredOption(...ACCOUNT)
    .requiredOption("--name <name>", "what the key is for", parseName)
    .option("--spending-limit <usd>", "maximum spending per period", parseAmount)
    .option(...RESET)
    .option("--project <project>", "id or name of the project that owns it (default: the default project)")
    .option("--allow-children", "let it make keys below it, with POST /v1/key/children")
    .option("--requests-per-minute <n>", "overrides the configured limit", parseCount)
    .option("--tokens-per-minute <n>", "overrides the configured limit", parseCount)
    .option("--concurrent-requests <n>", "overrides the configured limit", parseCount)
    .option("--models <ids>", "models that it may use, separated by commas (default: all)", parseNames)
    .option(
      "--tiers <names|none>",
      "service tiers that it may ask for, separated by commas (default: all)",
      parseTiers,
    )
    .option("--no-paid-tools", "let it use no tools at the provider that have a fee")
    .option("--allow-clamp", "lower output limits of requests to what the wallet can pay")
    .option("--expires-in-days <n>", "days until the key expires", parseDays)
    .action(onStorage(async () => (await import("./key.ts")).runKeyCreate));
  withJson(key, "list", "list keys, without those that keys made")
    .option(...ACCOUNT)
    .option("--parent <key>", "list the keys that this key made")
    .action(onStorage(async () => (await import("./key.ts")).runKeyList));
  addKeyUpdate(key);
  withJson(key, "rotate", "give a key a new secret and print it once; the old one ends after 24 hours")
    .argument("<key>", KEY_ARGUMENT)
    .action(onStorage(async () => (await import("./key-changes.ts")).runKeyRotate));
  withJson(key, "revoke", "revoke a key, in every process within a second")
    .argument("<key>", KEY_ARGUMENT)
    .action(onStorage(async () => (await import("./key.ts")).runKeyRevoke));
}

function addKeyUpdate(key: Command): void {
  withJson(key, "update", "change a key; what is not named stays")
    .argument("<key>", KEY_ARGUMENT)
    .option("--name <name>", "what the key is for", parseName)
    .option("--spending-limit <usd|none>", "maximum spending per period", orWord("none", parseAmount))
    .option("--reset <period>", "period of the spending limit, in UTC (default: as it is)", parsePeriod)
    .option("--project <project>", "id or name of the project to move it to, with the keys below it")
    .option("--allow-children", "let it make keys below it, with POST /v1/key/children")
    .option("--no-allow-children", "let it make no more keys below it")
    .option(
      "--requests-per-minute <n|default>",
      "overrides the configured limit",
      orWord("default", parseCount),
    )
    .option(
      "--tokens-per-minute <n|default>",
      "overrides the configured limit",
      orWord("default", parseCount),
    )
    .option(
      "--concurrent-requests <n|default>",
      "overrides the configured limit",
      orWord("default", parseCount),
    )
    .option("--models <ids|all>", "models that it may use, separated by commas", orWord("all", parseNames))
    .option(
      "--tiers <names|none|all>",
      "service tiers that it may ask for, separated by commas",
      orWord("all", parseTiers),
    )
    .option("--paid-tools", "let it use tools at the provider that have a fee")
    .option("--no-paid-tools", "let it use no tools at the provider that have a fee")
    .option("--allow-clamp", "lower output limits of requests to what the wallet can pay")
    .option("--no-allow-clamp", "refuse requests that the wallet cannot pay")
    .option("--expires-in-days <n|never>", "days until the key expires", orWord("never", parseDays))
    .action(onStorage(async () => (await import("./key-changes.ts")).runKeyUpdate));
}
