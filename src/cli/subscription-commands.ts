import { type Command, Option } from "commander";
import { printResult } from "./command.ts";
import type { SellOptions } from "./init/sell.ts";
import {
  ACCOUNT,
  type JsonOption,
  onStorage,
  parseAmount,
  parseFactor,
  parseName,
  parsePositiveAmount,
  withJson,
} from "./options.ts";

/** Adds the commands of plans. */
export function addPlanCommands(plan: Command): void {
  withJson(plan, "list", "list the plans of the configuration file").action(async (options: JsonOption) =>
    printResult((await import("./subscription.ts")).runPlanList(), options),
  );
  withJson(plan, "sell", "add a monthly plan that Stripe sells, an open sign-up, and Stripe's secrets")
    .requiredOption("--plan <id>", "id of the plan, such as starter")
    .requiredOption("--price <usd>", "what Stripe charges a month", parsePositiveAmount)
    .requiredOption("--grant <usd>", "credit of each month", parseAmount)
    .option("--markup <factor>", "factor over the provider's cost, such as 1.20", parseFactor)
    .option("--name <name>", "name that customers see (default: the id)", parseName)
    .action(async (options: SellOptions & JsonOption) => {
      const { runPlanSell } = await import("./init/sell.ts");
      const { openAsk } = await import("./init/ask.ts");
      const ask = options.json ? undefined : openAsk();
      printResult(await runPlanSell(options, ask).finally(ask?.close), options);
    });
}

/** Adds the commands of subscriptions. */
export function addSubscriptionCommands(subscription: Command): void {
  withJson(subscription, "list", "list subscriptions, newest first")
    .option("--all", "with those that have ended")
    .action(onStorage(async () => (await import("./subscription.ts")).runSubscriptionList));
  withJson(subscription, "show", "show the subscription of an account and its newest credits")
    .requiredOption(...ACCOUNT)
    .action(onStorage(async () => (await import("./subscription.ts")).runSubscriptionShow));
  confirmed(withJson(subscription, "create", "subscribe an account to a plan, from now on"))
    .requiredOption("--plan <id>", "id of a plan of the configuration file")
    .option("--time-zone <zone>", "zone of its periods and limits, such as Asia/Kolkata (default: UTC)")
    .action(onStorage(async () => (await import("./subscription.ts")).runSubscriptionCreate));
  confirmed(withJson(subscription, "pause", "begin no period until it is resumed")).action(
    onStorage(async () => (await import("./subscription.ts")).runSubscriptionPause),
  );
  confirmed(withJson(subscription, "resume", "end a pause, or take a cancellation back")).action(
    onStorage(async () => (await import("./subscription.ts")).runSubscriptionResume),
  );
  confirmed(withJson(subscription, "change", "change to another plan, or to new terms of the same one"))
    .requiredOption("--plan <id>", "id of a plan of the configuration file")
    .addOption(when("when it begins (default: now for an upgrade, else period_end)"))
    .action(onStorage(async () => (await import("./subscription.ts")).runSubscriptionChange));
  confirmed(withJson(subscription, "cancel", "end a subscription"))
    .addOption(when("when it ends (default: period_end)"))
    .action(onStorage(async () => (await import("./subscription.ts")).runSubscriptionCancel));
}

function confirmed(command: Command): Command {
  return command
    .requiredOption(...ACCOUNT)
    .option("--reason <text>", "reason for the audit trail", parseName)
    .option("--yes", "confirm; without it, what would happen is shown and nothing is changed");
}

function when(description: string): Option {
  return new Option("--when <time>", description).choices(["now", "period_end"]);
}
