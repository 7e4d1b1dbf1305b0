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

/** The command line: what can be said. What it does is in one file per command, loaded when it is called. */
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
    .description("start the ledger's gRPC service alone, for gateways with LEDGER_URL and other services")
    .action(async () => (await import("./ledger.ts")).runLedger());
  withJson(program, "check", "check configuration and connections, start nothing").action(
    async (options: JsonOption) => printResult(await (await import("./check/check.ts")).runCheck(), options),
  );
  addAccountCommands(program.command("account").description("who pays"));
  addKeyCommands(program.command("key").description("keys of accounts"));
  addMoneyCommands(program);
  return program;
}

function addAccountCommands(account: Command): void {
  withJson(account, "create", "create an account with an empty wallet")
    .requiredOption("--name <name>", "unique name", parseName)
    .option("--email <email>", "whom to write to", parseEmail)
    .action(onBooks(async () => (await import("./account.ts")).runAccountCreate));
  withJson(account, "list", "list accounts with their balances").action(
    onBooks(async () => (await import("./account-list.ts")).runAccountList),
  );
}

function addKeyCommands(key: Command): void {
  withJson(key, "create", "create a key and show it, once")
    .requiredOption(...ACCOUNT)
    .requiredOption("--name <name>", "what the key is for", parseName)
    .option("--spending-limit <usd>", "the most it may spend", parseAmount)
    .addOption(
      new Option(
        "--reset <period>",
        "when the spending limit starts anew, in UTC (default: total, never)",
      ).choices(["day", "week", "month", "total"]),
    )
    .option("--requests-per-minute <n>", "instead of the configured limit", parseCount)
    .option("--tokens-per-minute <n>", "instead of the configured limit", parseCount)
    .option("--concurrent-requests <n>", "instead of the configured limit", parseCount)
    .option("--models <ids>", "the only models it may use, with commas between them", parseNames)
    .option("--allow-clamp", "lower a request's own output limit to what can be paid")
    .option("--expires-in-days <n>", "refuse the key after that", parseDays)
    .action(onBooks(async () => (await import("./key.ts")).runKeyCreate));
  withJson(key, "list", "list keys")
    .option(...ACCOUNT)
    .action(onBooks(async () => (await import("./key-list.ts")).runKeyList));
  withJson(key, "revoke", "refuse a key from now on, everywhere within a second")
    .argument("<key>", "its id, or its hint where no other key has the same")
    .action((idOrHint: string, options: JsonOption) => {
      const revoke = async (books: Storage) =>
        (await import("./key-revoke.ts")).runKeyRevoke(books, idOrHint);
      return onBooks(async () => revoke)(options);
    });
}

function addMoneyCommands(program: Command): void {
  withJson(program, "topup", "add money to a wallet")
    .requiredOption(...ACCOUNT)
    .requiredOption("--amount <usd>", "such as 10.00", parsePositiveAmount)
    .requiredOption("--id <id>", "your name for this top-up: the same id is booked once")
    .action(onBooks(async () => (await import("./topup.ts")).runTopUp));
  withJson(program, "refund", "give back what a request was charged")
    .requiredOption(...ACCOUNT)
    .requiredOption("--receipt <request-id>", "the request")
    .option("--amount <usd>", "default: all that is left of the charge", parsePositiveAmount)
    .requiredOption("--id <id>", "your name for this refund: the same id is booked once")
    .action(onBooks(async () => (await import("./money.ts")).runRefund));
  withJson(program, "audit", "prove that no money is lost").action(
    onLocalBooks(async () => (await import("./audit.ts")).runAudit),
  );
}

function withJson(parent: Command, name: string, description: string): Command {
  return parent.command(name).description(description).option("--json", "print one JSON object");
}

type Load<Options> = () => Promise<(books: Storage, options: Options) => Promise<CommandResult>>;

/** An action that opens the books, runs a command on them and prints what it came to. */
function onBooks<Options>(load: Load<Options>) {
  return async (options: Options & JsonOption): Promise<void> => {
    const [{ withStorage }, run] = await Promise.all([import("./storage.ts"), load()]);
    printResult(await withStorage((books) => run(books, options)), options);
  };
}

/** The same for what a remote ledger cannot be asked. */
function onLocalBooks<Options>(load: Load<Options>) {
  return async (options: Options & JsonOption): Promise<void> => {
    const [{ withLocalStorage }, run] = await Promise.all([import("./storage.ts"), load()]);
    printResult(await withLocalStorage((books) => run(books, options)), options);
  };
}
