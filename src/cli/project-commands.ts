import type { Command } from "commander";
import {
  ACCOUNT,
  onStorage,
  orWord,
  parseAmount,
  parseEmail,
  parseName,
  parsePeriod,
  withJson,
} from "./options.ts";

/** The option that names the period of a new spending limit. */
export const RESET = [
  "--reset <period>",
  "day, week, month, total, or a window such as 5h; in UTC (default: total, never reset)",
  parsePeriod,
] as const;

/** Adds the commands of projects. */
export function addProjectCommands(project: Command): void {
  withJson(project, "create", "create a project")
    .requiredOption(...ACCOUNT)
    .requiredOption("--name <name>", "unique name in the account", parseName)
    .option("--spending-limit <usd>", "maximum spending of all its keys per period", parseAmount)
    .option(...RESET)
    .action(onStorage(async () => (await import("./project.ts")).runProjectCreate));
  withJson(project, "list", "list the projects of an account with their limits")
    .requiredOption(...ACCOUNT)
    .action(onStorage(async () => (await import("./project.ts")).runProjectList));
  onProject(project, "rename", "rename a project")
    .requiredOption("--name <name>", "unique name in the account", parseName)
    .action(onStorage(async () => (await import("./project.ts")).runProjectRename));
  onProject(project, "archive", "let a project take no new keys")
    .option("--restore", "let an archived project take keys again")
    .action(onStorage(async () => (await import("./project.ts")).runProjectArchive));
  onProject(project, "limit", "limit what a project may spend")
    .requiredOption(...AMOUNT)
    .option(...RESET)
    .option(...TIME_ZONE)
    .option("--each-end-user", "limit each end user of the project by itself")
    .action(onStorage(async () => (await import("./project.ts")).runProjectLimit));
}

const AMOUNT = ["--amount <usd|none>", "maximum spending per period", orWord("none", parseAmount)] as const;
const TIME_ZONE = ["--time-zone <zone>", "zone in which periods begin, such as Asia/Kolkata"] as const;

/** Adds a command on one project. */
function onProject(parent: Command, name: string, description: string): Command {
  return withJson(parent, name, description)
    .argument("<project>", "its id or name")
    .requiredOption(...ACCOUNT);
}

/** Adds the command that limits members of an account. */
export function addMemberCommands(member: Command): void {
  withJson(member, "limit", "limit what a member may spend over all keys that the person made")
    .requiredOption(...ACCOUNT)
    .option("--person <email>", "e-mail address of one member", parseEmail)
    .option("--each", "each member by itself")
    .requiredOption(...AMOUNT)
    .option(...RESET)
    .option(...TIME_ZONE)
    .action(onStorage(async () => (await import("./project.ts")).runMemberLimit));
}
