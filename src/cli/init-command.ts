import type { Command } from "commander";
import { printResult } from "./command.ts";
import type { InitOptions } from "./init/init.ts";
import {
  type JsonOption,
  parseAmount,
  parseEmail,
  parseName,
  parseNames,
  parseOrigin,
  withJson,
} from "./options.ts";
import { RESET } from "./project-commands.ts";

/** Adds the command that sets a gateway up. */
export function addInitCommand(program: Command): void {
  withJson(program, "init", "set up providers, models, an account and a key; run again, it adds")
    .option("--provider <names>", "providers, separated by commas (default: those of the models)", parseNames)
    .option(
      "--model <ids>",
      "known models, separated by commas, such as anthropic/claude-sonnet-5",
      parseNames,
    )
    .option("--base-url <url>", "address of a server that serves the models of the one provider")
    .option("--upstream <name>", "name of its upstream (default: the provider)")
    .option(
      "--key-file <path>",
      "file with the key of the one provider (default: its variable, or a question)",
    )
    .option("--key-stdin", "read the key of the one provider from standard input")
    .option("--no-check", "do not call the providers")
    .option("--account <name>", "account of the key (default: main)", parseName)
    .option("--credit <usd>", "credit of a new account (default: 20.00)", parseAmount)
    .option("--spending-limit <usd>", "maximum spending of a new key per period", parseAmount)
    .option(...RESET)
    .option("--operator <email>", "first operator of the console (default: operator@localhost)", parseEmail)
    .option("--no-operator", "create no operator")
    .option("--client <client>", "client whose settings are printed, such as claude-code (default: curl)")
    .option("--url <origin>", "origin of the gateway (default: PUBLIC_URL, or HOST and PORT)", parseOrigin)
    .action(async (options: InitOptions & JsonOption) => {
      const { runInit } = await import("./init/init.ts");
      const { openAsk } = await import("./init/ask.ts");
      const ask = options.json || options.keyStdin ? undefined : openAsk();
      printResult(await runInit(options, ask).finally(ask?.close), options);
    });
}
