import { Command, Option } from "commander";
import { CREDIT_SOURCES } from "../domain/credit.ts";
import { COMMIT, VERSION } from "../domain/version.ts";
import { addAccountCommands, addEndUserCommands } from "./account-commands.ts";
import type { ClientsOptions } from "./clients.ts";
import { printResult } from "./command.ts";
import { addDataCommands } from "./data-commands.ts";
import type { HealthOptions } from "./health.ts";
import { addInitCommand } from "./init-command.ts";
import { addKeyCommands } from "./key-commands.ts";
import { addModelCommands } from "./model-commands.ts";
import {
  ACCOUNT,
  type JsonOption,
  onStorage,
  parseCount,
  parseDays,
  parseEmail,
  parseName,
  parseOrigin,
  parsePositiveAmount,
  parseTime,
  parseUsageBy,
  withJson,
  withRange,
  withScopes,
} from "./options.ts";
import { addMemberCommands, addProjectCommands } from "./project-commands.ts";
import { addPlanCommands, addSubscriptionCommands } from "./subscription-commands.ts";

/** Defines the command line. The code of a command is loaded when the command runs. */
export function createProgram(): Command {
  const program = new Command("tollgate")
    .description("A gateway in front of hosted language models")
    .version(`tollgate ${VERSION}, ${COMMIT ? `commit ${COMMIT}` : "from sources"}, Bun ${Bun.version}`)
    .exitOverride();
  program
    .command("serve")
    .description("start the gateway")
    .action(async () => (await import("./serve.ts")).runServe());
  program
    .command("ledger")
    .description("start the ledger's gRPC service alone, for gateways with LEDGER_URL and for other services")
    .action(async () => (await import("./serve.ts")).runLedger());
  addInitCommand(program);
  withJson(program, "check", "check configuration and connections without starting").action(
    async (options: JsonOption) => printResult(await (await import("./check/check.ts")).runCheck(), options),
  );
  withJson(program, "health", "ask a running gateway whether it is ready")
    .option("--url <origin>", "origin of the gateway (default: HOST and PORT on this machine)", parseOrigin)
    .option("--wait <seconds>", "seconds to wait until it is ready (default: 0)", parseCount)
    .option("--pid <pid>", "process whose end ends the wait", parseCount)
    .action(async (options: HealthOptions & JsonOption) =>
      printResult(await (await import("./health.ts")).runHealth(options), options),
    );
  withJson(program, "clients", "print the settings of clients for this gateway and the models of a key")
    .argument("[client]", "one client, such as codex (default: all)")
    .option("--url <origin>", "origin of the gateway (default: PUBLIC_URL, or HOST and PORT)", parseOrigin)
    .option("--model <id>", "model of settings that name one model (default: the first)")
    .option("--key-stdin", "read the secret of the key from standard input instead of TOLLGATE_KEY")
    .action(async (client: string | undefined, options: ClientsOptions & JsonOption) =>
      printResult(await (await import("./clients.ts")).runClients(client, options), options),
    );
  addAccountCommands(program.command("account").description("accounts that own keys and a wallet"));
  addEndUserCommands(program.command("end-user").description("whom requests of an account are for"));
  addMemberCommands(program.command("member").description("people with a role in an account"));
  addProjectCommands(program.command("project").description("projects of accounts, which own keys"));
  addKeyCommands(program.command("key").description("API keys of accounts"));
  addPlanCommands(program.command("plan").description("plans of the configuration file"));
  addSubscriptionCommands(program.command("subscription").description("subscriptions of accounts to plans"));
  addMoneyCommands(program);
  addDataCommands(program);
  addModelCommands(program);
  addViewCommands(program);
  addCodeCommands(program.command("code").description("redeem codes, which add money to a wallet"));
  withJson(
    program.command("secrets").description("secrets that SEALING_KEYS seals in the database"),
    "renew",
    "replace those whose key is lost: people sign in again, and webhooks have new secrets",
  )
    .option("--yes", "do it, without asking")
    .action(onStorage(async () => (await import("./secrets.ts")).runSecretsRenew));
  addPersonCommands(program.command("person").description("people who sign in to the console"));
  addOperatorCommands(program.command("operator").description("people who operate this gateway"));
  return program;
}

function addMoneyCommands(program: Command): void {
  withJson(program, "topup", "add money to a wallet")
    .requiredOption(...ACCOUNT)
    .requiredOption("--amount <usd>", "such as 10.00", parsePositiveAmount)
    .requiredOption("--id <id>", "your id of this top-up, which is booked once")
    .addOption(
      new Option("--source <source>", "where the money comes from (default: purchase)").choices(
        CREDIT_SOURCES,
      ),
    )
    .option(
      "--expires <time>",
      "when what is left of it ends, such as 2026-12-01 (default: never)",
      parseTime,
    )
    .action(onStorage(async () => (await import("./money.ts")).runTopUp));
  withJson(program, "correct", "take money off a wallet that was credited by mistake")
    .requiredOption(...ACCOUNT)
    .requiredOption("--amount <usd>", "such as 10.00", parsePositiveAmount)
    .requiredOption("--id <id>", "your id of this correction, which is booked once")
    .option("--credit <id>", "id of the top-up to take it from first (default: as a charge)")
    .requiredOption("--reason <text>", "shown in the statement and the audit trail", parseName)
    .option("--yes", "confirm; without it, the resulting balance is shown and nothing is changed")
    .action(onStorage(async () => (await import("./money.ts")).runCorrect));
  withJson(program, "refund", "refund the charge of a request")
    .requiredOption(...ACCOUNT)
    .requiredOption("--receipt <request-id>", "request id of the receipt")
    .option("--amount <usd>", "amount (default: the rest of the charge)", parsePositiveAmount)
    .requiredOption("--id <id>", "your id of this refund, which is booked once")
    .option(
      "--credit-days <n>",
      "days until it ends where the charged credit has ended (default: 7)",
      parseDays,
    )
    .action(onStorage(async () => (await import("./money.ts")).runRefund));
}

function addViewCommands(program: Command): void {
  withJson(program, "wallet", "show the balance of a wallet, its credits, latest transfers and running holds")
    .requiredOption(...ACCOUNT)
    .action(onStorage(async () => (await import("./wallet.ts")).runWallet));
  withScopes(withRange(withJson(program, "usage", "show requests, tokens and cost of an account")))
    .requiredOption(...ACCOUNT)
    .option(
      "--by <dimension>",
      "hour, day (default, in UTC), model, key, upstream, outcome, project, member, end-user, run or tag:KEY",
      parseUsageBy,
    )
    .option("--key <key>", "id, hint or secret of a key")
    .option("--model <id>", "id of a model")
    .action(onStorage(async () => (await import("./usage.ts")).runUsage));
  withJson(program, "receipt", "show the receipt of a request, of whichever account")
    .argument("<request-id>", "id of the request, as in the header x-request-id")
    .action(onStorage(async () => (await import("./receipts.ts")).runReceipt));
  withJson(program, "statement", "show opening, transfers and closing of a month, over all accounts")
    .option("--month <month>", "such as 2026-11, in UTC (default: the month before this one)")
    .option("--account <account>", "id or name of one account")
    .option("--csv", "print CSV, with the total in its last row")
    .option(
      "--sheet",
      "show all of one account's month: what was granted, charged and taken off, and for what",
    )
    .addOption(
      new Option(
        "--by <kind>",
        "split the statement of each account, with receipts that are dropped apart",
      ).choices(["project", "member", "key"]),
    )
    .action(onStorage(async () => (await import("./wallet.ts")).runStatement));
  withJson(
    program,
    "figures",
    "show recurring revenue, granted and expired credit, margins of plans, and accounts at risk",
  ).action(onStorage(async () => (await import("./figures.ts")).runFigures));
  withScopes(withRange(withJson(program, "receipts", "list the newest receipts of an account")))
    .requiredOption(...ACCOUNT)
    .option("--key <key>", "id, hint or secret of a key")
    .option("--model <id>", "id of a model")
    .option("--upstream <name>", "name of an upstream")
    .option("--outcome <outcome>", "ok, client_closed or an error code")
    .option("--failed", "those that ended with another outcome than ok, or with none")
    .addOption(
      new Option("--state <state>", "state of the hold").choices(["held", "settled", "released", "expired"]),
    )
    .option("--limit <n>", "receipts at most, up to 1000 (default: 20)", parseCount)
    .action(onStorage(async () => (await import("./receipts.ts")).runReceipts));
}

function addCodeCommands(code: Command): void {
  withJson(code, "create", "create redeem codes and print them once")
    .requiredOption("--amount <usd>", "amount of each code, such as 10.00", parsePositiveAmount)
    .option("--count <n>", "codes to create, up to 100 (default: 1)", parseCount)
    .option("--note <text>", "what they are for, shown to operators", parseName)
    .option("--expires-in-days <n>", "days until they expire (default: never)", parseDays)
    .addOption(
      new Option("--source <source>", "source of the credit (default: promotion)").choices(CREDIT_SOURCES),
    )
    .option("--credit-days <n>", "days from its redemption until the credit ends (default: never)", parseDays)
    .action(onStorage(async () => (await import("./money.ts")).runCodeCreate));
}

function addPersonCommands(person: Command): void {
  const email = ["--email <email>", "e-mail address of the person", parseEmail] as const;
  withJson(person, "ways", "list how a person may sign in")
    .requiredOption(...email)
    .action(onStorage(async () => (await import("./person.ts")).runPersonWays));
  withJson(person, "end-way", "take a way to sign in from a person, and end its sessions")
    .requiredOption(...email)
    .requiredOption("--way <way>", 'the id that ways lists, or "second-factor"', parseName)
    .action(onStorage(async () => (await import("./person.ts")).runPersonEndWay));
}

function addOperatorCommands(operator: Command): void {
  withJson(operator, "create", "create an operator, or make a person one, and print a one-time password")
    .requiredOption("--email <email>", "e-mail address to sign in with", parseEmail)
    .option("--name <name>", "name of a new person", parseName)
    .action(onStorage(async () => (await import("./account.ts")).runOperatorCreate));
}
