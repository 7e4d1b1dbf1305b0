import { type Command, Option } from "commander";
import {
  ACCOUNT,
  onLocalStorage,
  onStorage,
  orWord,
  parseEmail,
  parseFactor,
  parseName,
  parseNames,
  withJson,
} from "./options.ts";

const orOff = orWord("off", parseFactor);

/** Adds the commands of accounts. */
export function addAccountCommands(account: Command): void {
  withJson(account, "create", "create an account with an empty wallet")
    .requiredOption("--name <name>", "unique name", parseName)
    .option("--email <email>", "contact address", parseEmail)
    .action(onStorage(async () => (await import("./account.ts")).runAccountCreate));
  withJson(account, "list", "list accounts with their balances").action(
    onStorage(async () => (await import("./account.ts")).runAccountList),
  );
  withJson(account, "suspend", "refuse its requests, in every process within a second")
    .requiredOption(...ACCOUNT)
    .requiredOption("--reason <text>", "reason for the audit trail", parseName)
    .action(onStorage(async () => (await import("./account.ts")).runAccountSuspend));
  withJson(account, "resume", "end its suspension")
    .requiredOption(...ACCOUNT)
    .requiredOption("--reason <text>", "reason for the audit trail", parseName)
    .action(onStorage(async () => (await import("./account.ts")).runAccountResume));
  withJson(account, "markup", "set the factor over upstream costs that it pays, within a second")
    .requiredOption(...ACCOUNT)
    .requiredOption("--markup <factor>", 'such as 1.15, or "off" for the prices of the models', orOff)
    .requiredOption("--reason <text>", "reason for the audit trail", parseName)
    .action(onStorage(async () => (await import("./account.ts")).runAccountMarkup));
  withJson(account, "attribution", "show or set how receipts name end users, and the keys of tags")
    .requiredOption(...ACCOUNT)
    .addOption(
      new Option("--end-users <names>", "text as sent, its hash, or none (default: as it is)").choices([
        "plain",
        "hashed",
        "off",
      ]),
    )
    .option(
      "--tags <keys|none>",
      "keys that x-tollgate-tags may have, separated by commas",
      orWord("none", parseNames),
    )
    .action(onStorage(async () => (await import("./account.ts")).runAccountAttribution));
}

/** Adds the commands of end users. */
export function addEndUserCommands(endUser: Command): void {
  withJson(endUser, "forget", "replace the name of an end user by a pseudonym; sums stay")
    .requiredOption(...ACCOUNT)
    .requiredOption("--user <user>", "the end user, as clients name it")
    .action(onLocalStorage(async () => (await import("./end-user.ts")).runEndUserForget));
}
