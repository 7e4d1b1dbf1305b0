import type { ClientGroup } from "./clients.ts";
import type { Deployment } from "./deployment.ts";

/** What the clients of a group run into, as the checks need it. */
export interface GroupPlan extends Omit<ClientGroup, "secret"> {
  /** Credit of its account. */
  readonly fundsUsd: string;
  /** Further options of `tollgate key create`. */
  readonly keyOptions: readonly string[];
  readonly requestsPerMinute?: number;
  readonly concurrentRequests?: number;
  readonly spendingLimitUsd?: string;
}

/** Each group has an account and a key of its own, and a bound that its clients exceed, except the first. */
export const GROUPS: readonly GroupPlan[] = [
  plan({ name: "plenty", clients: 10, pauseMs: 300 }),
  plan({ name: "rate", clients: 6, pauseMs: 500, requestsPerMinute: 240 }),
  plan({ name: "slots", clients: 12, pauseMs: 200, concurrentRequests: 6 }),
  plan({ name: "budget", clients: 6, pauseMs: 400, spendingLimitUsd: "0.01" }),
  plan({ name: "wallet", clients: 6, pauseMs: 400, fundsUsd: "0.01" }),
];

function plan(given: Partial<GroupPlan> & Pick<GroupPlan, "name" | "clients" | "pauseMs">): GroupPlan {
  const { requestsPerMinute, concurrentRequests, spendingLimitUsd, fundsUsd = "1000" } = given;
  const option = (name: string, value: string | number | undefined) =>
    value ? [`--${name}`, `${value}`] : [];
  return {
    ...given,
    fundsUsd,
    keyOptions: [
      ...option("requests-per-minute", requestsPerMinute),
      ...option("concurrent-requests", concurrentRequests),
      ...option("spending-limit", spendingLimitUsd),
    ],
  };
}

/** Creates the account and the key of each group by the command line. Returns the groups with their secrets. */
export function createGroups(
  { command }: Pick<Deployment, "command">,
  plans: readonly GroupPlan[],
): Promise<readonly (GroupPlan & ClientGroup)[]> {
  return Promise.all(
    plans.map(async (each) => {
      const { name, fundsUsd, keyOptions } = each;
      await command("account", "create", "--name", name);
      await command("topup", "--account", name, "--amount", fundsUsd, "--id", `seed-${name}`);
      const printed = await command("key", "create", "--account", name, "--name", name, ...keyOptions);
      return { ...each, secret: /sk-tg-[\w-]{43}/.exec(printed)?.[0] ?? "" };
    }),
  );
}
