import { AdditionError, addEntries, readFileValues } from "../../config/add-entries.ts";
import { loadClientAccess } from "../../config/client-access.ts";
import { findSettings } from "../../config/env-file.ts";
import { type Markup, type Nanos, printMarkup, printUsd } from "../../domain/money.ts";
import { writeSettings } from "../../setup/write-setup.ts";
import { CommandError, type CommandResult } from "../command.ts";
import { originOf } from "../health.ts";
import type { Ask } from "./ask.ts";
import { describeAddition, readModels } from "./report.ts";

export interface SellOptions {
  readonly plan: string;
  /** Shown to customers. Default: the id. */
  readonly name?: string;
  readonly price: Nanos;
  readonly grant: Nanos;
  readonly markup?: Markup;
}

/** The variables of Stripe, and how their values begin. */
const SECRETS = { STRIPE_SECRET_KEY: ["sk_", "rk_"], STRIPE_WEBHOOK_SECRET: ["whsec_"] };

/**
 * Adds a monthly plan that Stripe sells, an open sign-up where the file has none, and the secrets of Stripe. Without
 * `ask`, the secrets come from their variables.
 */
export async function runPlanSell(options: SellOptions, ask?: Ask): Promise<CommandResult> {
  const files = findSettings();
  try {
    const variables = await readSecrets(files, ask);
    const written = writeSettings(files, { variables, extend: (before) => extend(before, options) });
    const { problems } = readModels();
    const { publicUrl, address } = loadClientAccess();
    const url = `${publicUrl ?? originOf(address)}/console/sign-up`;
    const lines = [
      `Settings  ${files.configPath}: ${describeAddition(written.added)}`,
      `Secrets   ${files.envPath}: ${describeAddition(written.variables)}`,
      `Sign-up   ${url}, ${written.signUp}`,
      ...problems.map((problem) => `Problem   ${problem}`),
      "",
      "Start the gateway, or start it again: it takes plans at once, and Stripe's keys at the start.",
    ];
    const { added, variables: names, signUp } = written;
    const json = { added, variables: names, sign_up: signUp, url, problems };
    return { json, text: lines.join("\n"), failed: problems.length > 0 };
  } catch (error) {
    if (error instanceof AdditionError) throw new CommandError(error.message);
    throw error;
  }
}

async function readSecrets(files: ReturnType<typeof findSettings>, ask: Ask | undefined) {
  const variables: Record<string, string> = {};
  for (const [name, beginnings] of Object.entries(SECRETS)) {
    const value = files.valueOf(name) ?? (await ask?.secret(name));
    if (!value) throw new CommandError(`${name} is not set: set it, or run the command on a terminal.`, 2);
    if (!beginnings.some((each) => value.startsWith(each)))
      throw new CommandError(
        `${name} begins with ${beginnings.join(" or ")} at Stripe: this one does not.`,
        2,
      );
    if (!files.isInFile(name)) variables[name] = value;
  }
  return variables;
}

/** Adds what the file does not have. Throws {@link AdditionError} for a plan of this id with other terms. */
function extend(before: string, { plan, name = plan, price, grant, markup }: SellOptions) {
  const values = readFileValues(before);
  const signUp = Object(values.console).sign_up ?? "open";
  const entry = {
    name,
    period: "month",
    grant: printUsd(grant),
    ...(markup === undefined ? {} : { markup: printMarkup(markup) }),
    price: printUsd(price),
    sold_by: "stripe",
  };
  const isThere = Bun.deepEquals(Object(values.plans)[plan], entry);
  const isSaid = Object(values.console).sign_up !== undefined;
  const additions = {
    ...(isThere ? {} : { plans: { [plan]: entry } }),
    ...(isSaid ? {} : { console: { sign_up: signUp } }),
  };
  const added = [...(isThere ? [] : [`the plan ${plan}`]), ...(isSaid ? [] : ["console.sign_up"])];
  return { text: addEntries(before, additions), added, signUp: String(signUp) };
}
