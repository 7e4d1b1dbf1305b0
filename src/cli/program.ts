import { Command, Option } from "commander";
import { type CommandResult, printResult } from "./command.ts";
import {
  parseAmount,
  parseCount,
  parseDays,
  parseEmail,
  parseName,
  parseNames,
  parsePositiveAmount,
} from "./options.ts";
import type { Storage } from "./storage.ts";

interface JsonOption {
  readonly json?: boolean;
}

const ACCOUNT = ["--account <account>", "id or name of the account"] as const;

/** Defines the command line. The code of a command is loaded when the command runs. */
export function createProgram(): Command {
  const program = new Command("tollgate")
    .description("A gateway in front of hosted language models")
    .exitOverride();
  program
    .command("serve")
    .description("start the gateway")
    .action(async () => (await import("./serve.ts")).runServe());
  program
    .command("ledger")
    .description("start the ledger's gRPC service alone, for gateways with LEDGER_URL and for other services")
    .action(async () => (await import("./serve.ts")).runLedger());
  withJson(program, "check", "check configuration and connections without starting").action(
    async (options: JsonOption) => printResult(await (await import("./check/check.ts")).runCheck(), options),
  );
  addAccountCommands(program.command("account").description("accounts that own keys and a wallet"));
  addKeyCommands(program.command("key").description("API keys of accounts"));
  addMoneyCommands(program);
  return program;
}

function addAccountCommands(account: Command): void {
  withJson(account, "create", "create an account with an empty wallet")
    .requiredOption("--name <name>", "unique name", parseName)
    .option("--email <email>", "contact address", parseEmail)
    .action(onStorage(async () => (await import("./account.ts")).runAccountCreate));
  withJson(account, "list", "list accounts with their balances").action(
    onStorage(async () => (await import("./account.ts")).runAccountList),
  );
}

function addKeyCommands(key: Command): void {
  withJson(key, "create", "create a key and print it once")
    .requiredOption(...ACCOUNT)
    .requiredOption("--name <name>", "what the key is for", parseName)
    .option("--spending-limit <usd>", "maximum spending per period", parseAmount)
    .addOption(
      new Option(
        "--reset <period>",
        "period of the spending limit, in UTC (default: total, never reset)",
      ).choices(["day", "week", "month", "total"]),
    )
    .option("--requests-per-minute <n>", "overrides the configured limit", parseCount)
    .option("--tokens-per-minute <n>", "overrides the configured limit", parseCount)
    .option("--concurrent-requests <n>", "overrides the configured limit", parseCount)
    .option("--models <ids>", "models that it may use, separated by commas (default: all)", parseNames)
    .option("--allow-clamp", "lower output limits of requests to what the wallet can pay")
    .option("--expires-in-days <n>", "days until the key expires", parseDays)
    .action(onStorage(async () => (await import("./key.ts")).runKeyCreate));
  withJson(key, "list", "list keys")
    .option(...ACCOUNT)
    .action(onStorage(async () => (await import("./key.ts")).runKeyList));
  withJson(key, "revoke", "revoke a key, in every process within a second")
    .argument("<key>", "its id, its hint if unique, or its secret")
    .action((idOrHint: string, options: JsonOption) => {
      const revoke = async (storage: Storage) => (await import("./key.ts")).runKeyRevoke(storage, idOrHint);
      return onStorage(async () => revoke)(options);
    });
}

function addMoneyCommands(program: Command): void {
  withJson(program, "topup", "add money to a wallet")
    .requiredOption(...ACCOUNT)
    .requiredOption("--amount <usd>", "such as 10.00", parsePositiveAmount)
    .requiredOption("--id <id>", "your id of this top-up, which is booked once")
    .action(onStorage(async () => (await import("./money.ts")).runTopUp));
  withJson(program, "refund", "refund the charge of a request")
    .requiredOption(...ACCOUNT)
    .requiredOption("--receipt <request-id>", "request id of the receipt")
    .option("--amount <usd>", "amount (default: the rest of the charge)", parsePositiveAmount)
    .requiredOption("--id <id>", "your id of this refund, which is booked once")
    .action(onStorage(async () => (await import("./money.ts")).runRefund));
  withJson(program, "audit", "check that the books are consistent").action(
    onLocalStorage(async () => (await import("./audit.ts")).runAudit),
  );
}

function withJson(parent: Command, name: string, description: string): Command {
  return parent.command(name).description(description).option("--json", "print one JSON object");
}

type Load<Options> = () => Promise<(storage: Storage, options: Options) => Promise<CommandResult>>;

/** Returns an action that opens the storage, runs a command with it and prints the result. */
function onStorage<Options>(load: Load<Options>) {
  return async (options: Options & JsonOption): Promise<void> => {
    const [{ withStorage }, run] = await Promise.all([import("./storage.ts"), load()]);
    printResult(await withStorage((storage) => run(storage, options)), options);
  };
}

/** Like {@link onStorage}, for commands that need the database of the ledger. */
function onLocalStorage<Options>(load: Load<Options>) {
  return async (options: Options & JsonOption): Promise<void> => {
    const [{ withLocalStorage }, run] = await Promise.all([import("./storage.ts"), load()]);
    printResult(await withLocalStorage((storage) => run(storage, options)), options);
  };
}
