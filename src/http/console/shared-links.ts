import { Elysia, type Static, t } from "elysia";
import { createLink, listLinks, openLink, revokeLink, type SharedLink } from "../../accounts/shared-links.ts";
import { printTime } from "../../domain/id-time.ts";
import { GatewayError } from "../../errors.ts";
import { createProjectMonths, printMonthCsv, printProjectMonth } from "../../payments/project-months.ts";
import { createSharedViews, type SharedView } from "../../usage/shared-view.ts";
import { printSums, type Sums } from "../../usage/sums.ts";
import type { PartsOf } from "./console-parts.ts";
import { createGuard } from "./guard.ts";
import { printSpendingLimit } from "./keys/print.ts";
import { spendingLimit } from "./keys/shapes.ts";
import { contextOf } from "./request-context.ts";
import { id, listOf, nothing, oneOf, time, usd } from "./shapes.ts";
import { csvHeaders } from "./text-stream.ts";
import { month } from "./wallet/shapes.ts";

type Parts = PartsOf<"ledger" | "settings" | "throttle">;

const shown = t.Nullable(t.Object({ id, name: t.String() }));

/** Without a key and a project, the link shows the whole account. */
const link = t.Object({
  id,
  key: shown,
  project: shown,
  shows_names: t.Boolean(),
  created_by: t.String(),
  created_at: time,
  expires_at: time,
  revoked_at: t.Nullable(time),
  state: oneOf(["active", "expired", "revoked"]),
});

const sums = {
  requests: t.Integer(),
  cost_usd: usd,
  input_tokens: t.Integer(),
  cached_input_tokens: t.Integer(),
  cache_write_tokens: t.Integer(),
  output_tokens: t.Integer(),
};

/** The last 30 days by UTC day. Names are null unless the link shows them. A link to a project has months. */
const sharedUsage = t.Object({
  account_name: t.Nullable(t.String()),
  key_name: t.Nullable(t.String()),
  project_name: t.Nullable(t.String()),
  months: t.Array(month),
  from: time,
  to: time,
  expires_at: time,
  usage: t.Object({
    rows: t.Array(t.Object({ time, ...sums })),
    total: t.Object(sums),
    models: t.Array(t.Object({ model: t.String(), ...sums })),
  }),
  spending_limit: t.Nullable(t.Omit(spendingLimit, ["time_zone", "held_usd"])),
});

const token = t.String({ maxLength: 100 });

/** What a project owes for a UTC month: a line of its account's statement by project. */
const projectMonth = t.Object({
  month,
  is_running: t.Boolean({ description: "whether the month has not ended" }),
  is_complete: t.Boolean({ description: "whether the receipts of the month are all kept" }),
  charged_usd: usd,
  refunded_usd: usd,
  other_usd: usd,
  change_usd: usd,
  transfers: t.Integer(),
});

/** Routes of shared links: read-only views of usage, for people without a session. */
export function sharedLinksRoutes(parts: Parts) {
  return new Elysia().use(linkRoutes(parts)).use(openedLinkRoutes(parts));
}

function linkRoutes(parts: Parts) {
  const { database, now, settings } = parts;
  return new Elysia()
    .use(createGuard(parts, "Usage"))
    .get(
      "/accounts/:account/links",
      async ({ account }) => {
        const links = await listLinks(database, account.id);
        return { items: links.map((each) => printLink(each, now())) };
      },
      { summary: "List the shared links", needs: "links.read", response: listOf(link) },
    )
    .post(
      "/accounts/:account/links",
      async ({ account, actor, body: { key, project, shows_names, expires_at } }) => {
        const expiresAtMs = Date.parse(expires_at);
        if (Number.isNaN(expiresAtMs)) throw new GatewayError("wrong_shape", { path: "expires_at" });
        const order = { keyId: key, projectId: project, showsNames: shows_names, expiresAtMs };
        const created = await createLink(parts, actor, account.id, order);
        const url = `${settings.publicUrl}/console/shared/${created.token}`;
        return { link: printLink(created.link, now()), url };
      },
      {
        summary: "Share usage by a link; its token is shown once",
        needs: "links.write",
        body: t.Object({
          key: t.Optional(id),
          project: t.Optional(id),
          shows_names: t.Boolean(),
          expires_at: time,
        }),
        response: t.Object({ link, url: t.String() }),
      },
    )
    .delete(
      "/accounts/:account/links/:link",
      async ({ account, actor, params }) => {
        await revokeLink(parts, actor, { accountId: account.id, id: params.link });
        return {};
      },
      {
        summary: "Revoke a shared link",
        needs: "links.write",
        params: t.Object({ account: id, link: id }),
        response: nothing,
      },
    );
}

/** What people see who open a link. */
function openedLinkRoutes(parts: Parts) {
  const { database, now } = parts;
  const view = createSharedViews(parts);
  const months = createProjectMonths(parts);
  const guessed = <Answer>(request: Request, answer: () => Promise<Answer>) =>
    parts.throttle("link", { address: contextOf(request).address }, answer);
  const readMonthOf = async (wanted: { readonly token: string; readonly month: string }) => {
    const opened = await openLink(database, wanted.token, now());
    if (!opened) throw new GatewayError("unknown_item");
    return months.read(opened, wanted.month);
  };
  return new Elysia()
    .use(createGuard(parts, "Usage"))
    .get(
      "/shared/:token",
      ({ params, request }) =>
        guessed(request, async () => {
          const read = await view(params.token);
          return printView(read, await months.list(read.link));
        }),
      {
        summary: "Read the usage that a link shares",
        isPublic: true,
        params: t.Object({ token }),
        response: sharedUsage,
      },
    )
    .get(
      "/shared/:token/months/:month",
      ({ params, request }) => guessed(request, async () => printProjectMonth(await readMonthOf(params))),
      {
        summary: "Read what the project of a link owes for a month",
        isPublic: true,
        params: t.Object({ token, month }),
        response: projectMonth,
      },
    )
    .get(
      "/shared/:token/statement.csv",
      ({ params, query, request }) =>
        guessed(request, async () => {
          const read = await readMonthOf({ token: params.token, month: query.month });
          return new Response(printMonthCsv(read), { headers: csvHeaders(`project-${read.month}`) });
        }),
      {
        summary: "Export what the project of a link owes for a month",
        isPublic: true,
        params: t.Object({ token }),
        query: t.Object({ month }),
      },
    );
}

function printLink(shared: SharedLink, nowMs: number): Static<typeof link> {
  const { key, project, revokedAtMs, expiresAtMs } = shared;
  const ended = nowMs < expiresAtMs ? "active" : "expired";
  return {
    id: shared.id,
    key: key ? { id: key.id, name: key.name ?? "" } : null,
    project: project ? { id: project.id, name: project.name ?? "" } : null,
    shows_names: shared.showsNames,
    created_by: shared.createdBy,
    created_at: printTime(shared.createdAtMs),
    expires_at: printTime(expiresAtMs),
    revoked_at: printTime(revokedAtMs),
    state: revokedAtMs === undefined ? ended : "revoked",
  };
}

function printView(view: SharedView, months: readonly string[]): Static<typeof sharedUsage> {
  const { link: shared, range, days, models, total } = view;
  return {
    account_name: view.accountName ?? null,
    key_name: view.keyName || null,
    project_name: view.projectName || null,
    months: [...months],
    from: printTime(range.fromMs),
    to: printTime(range.toMs),
    expires_at: printTime(shared.expiresAtMs),
    usage: {
      rows: days.map(({ dayMs, sums: each }) => ({ time: printTime(dayMs), ...printShownSums(each) })),
      total: printShownSums(total),
      models: models.map(({ model, sums: each }) => ({ model, ...printShownSums(each) })),
    },
    spending_limit: printLimit(view),
  };
}

/** Prints sums without errors and refused requests, which a link does not show. */
function printShownSums(shown: Sums) {
  const { errors: _, refused: __, ...printed } = printSums(shown);
  return printed;
}

function printLimit({ spendingLimit: limit }: SharedView): Static<typeof sharedUsage>["spending_limit"] {
  if (!limit) return null;
  const { time_zone: _, held_usd: __, ...printed } = printSpendingLimit(limit);
  return printed;
}
