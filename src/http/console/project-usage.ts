import { Elysia, type Static, t } from "elysia";
import { findProject } from "../../accounts/projects.ts";
import { printTime } from "../../domain/id-time.ts";
import { GatewayError } from "../../errors.ts";
import { type ProjectUsage, readProjectUsage } from "../../usage/project-usage.ts";
import { printSums, type Sums } from "../../usage/sums.ts";
import type { PartsOf } from "./console-parts.ts";
import { createGuard } from "./guard.ts";
import { printSpendingLimit } from "./keys/print.ts";
import { projectId, spendingLimit } from "./keys/shapes.ts";
import { id, oneOf, usd } from "./shapes.ts";

type Parts = PartsOf<"ledger">;

const group = oneOf(["key", "member", "end_user", "model"]);
const sums = {
  requests: t.Integer(),
  cost_usd: usd,
  input_tokens: t.Integer({ description: "all classes of input" }),
  output_tokens: t.Integer(),
};
const projectUsage = t.Object({
  from: t.String({ description: "30 days ago" }),
  total: t.Object(sums),
  others: t.Object(sums, { description: "all that are not among the 100 dearest" }),
  items: t.Array(
    t.Object({
      id: t.Nullable(t.String({ description: "null: the requests that name none" })),
      name: t.Nullable(t.String()),
      ...sums,
      spending_limit: t.Nullable(spendingLimit),
    }),
  ),
});

/** Who used a project, and what the limit of each end user has counted. */
export function projectUsageRoutes(parts: Parts) {
  return new Elysia().use(createGuard(parts, "Projects")).get(
    "/accounts/:account/projects/:project/usage",
    async ({ account, params, query }) => {
      const found = await findProject(parts.database, account, params.project);
      if (!found) throw new GatewayError("unknown_item");
      return print(await readProjectUsage(parts, found, query.group ?? "key"));
    },
    {
      summary: "Read who used a project in the last 30 days",
      needs: "usage.read",
      params: t.Object({ account: id, project: projectId }),
      query: t.Object({ group: t.Optional(group) }),
      response: projectUsage,
    },
  );
}

function print({ fromMs, total, spenders, others }: ProjectUsage): Static<typeof projectUsage> {
  return {
    from: printTime(fromMs),
    total: printShort(total),
    others: printShort(others),
    items: spenders.map(({ id: spender, name, sums: each, limit }) => ({
      id: spender,
      name,
      ...printShort(each),
      spending_limit: limit ? printSpendingLimit(limit) : null,
    })),
  };
}

function printShort(each: Sums) {
  const { requests, cost_usd, input_tokens, cached_input_tokens, cache_write_tokens, output_tokens } =
    printSums(each);
  const input = input_tokens + cached_input_tokens + cache_write_tokens;
  return { requests, cost_usd, input_tokens: input, output_tokens };
}
