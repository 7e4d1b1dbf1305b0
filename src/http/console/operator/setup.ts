import { Elysia, t } from "elysia";
import { type Actor, recordChange } from "../../../accounts/audit-trail.ts";
import type { KnownModel } from "../../../catalog/known-models.ts";
import { GatewayError } from "../../../errors.ts";
import {
  type AddedProvider,
  PLACE_PATTERN,
  type ProvedProvider,
  type ProviderPage,
} from "../../../setup/provider-page.ts";
import type { PartsOf } from "../console-parts.ts";
import { createGuard } from "../guard.ts";
import { oneOf } from "../shapes.ts";

type Parts = PartsOf<"settings" | "platform">;

const provider = t.String({ maxLength: 64, description: "Name of a provider that can be set up here" });
const key = t.Optional(
  t.String({
    minLength: 1,
    maxLength: 512,
    pattern: "^\\S+$",
    description: "Key of the provider; not needed where the file has its upstream",
  }),
);
const place = t.Optional(
  t.String({
    pattern: PLACE_PATTERN,
    description: "Name of the resource, region or project, where the provider needs one; never an address",
  }),
);
const MODELS_MAX = 200;

const state = t.Object({
  demo_only: t.Boolean({ description: "Whether the demo's model is the only one" }),
  obstacle: t.Nullable(
    oneOf(["read_only", "several_gateways", "unreadable"], {
      description: "Why the files cannot be written from here",
    }),
  ),
  providers: t.Array(
    t.Object({
      name: t.String(),
      variable: t.Nullable(
        t.String({ description: "Variable of its key; null for the machine's credentials" }),
      ),
      place: t.Nullable(
        t.Union([t.Literal("resource"), t.Literal("region"), t.Literal("project")], {
          description: "What is named beside the key",
        }),
      ),
      upstream: t.Nullable(t.String({ description: "Upstream of the file that serves it" })),
    }),
  ),
});

const proof = t.Object({
  state: oneOf(["accepted", "unproven", "refused"]),
  problem: t.Nullable(t.String()),
  models: t.Array(
    t.Object({
      id: t.String(),
      context_window: t.Nullable(t.Integer()),
      input_usd: t.Nullable(t.String({ description: "USD per million tokens" })),
      output_usd: t.Nullable(t.String()),
      can: t.Array(t.String()),
    }),
  ),
});

const added = t.Object({
  state: oneOf(["written", "to_paste", "refused"]),
  problem: t.Nullable(t.String()),
  models: t.Array(t.String({ description: "Names for clients, served within two seconds" })),
  yaml: t.Nullable(t.String({ description: "Lines for the file, where it cannot be written from here" })),
  variables: t.Array(t.String({ description: "Variables to set, where they cannot be written from here" })),
});

/** Providers of this gateway, added by an operator. Answers hold no key. */
export function operatorSetupRoutes(parts: Parts) {
  return new Elysia()
    .use(createGuard(parts, "Operators"))
    .get(
      "/operator/setup",
      async () => {
        const { providers, obstacle = null } = await requirePage(parts).state();
        const listed = providers.map(({ name, variable = null, place: kind = null, upstream = null }) => {
          return { name, variable, place: kind, upstream };
        });
        return { demo_only: parts.settings.isDemoOnly, obstacle, providers: listed };
      },
      { summary: "List the providers that can be set up here", needsOperator: true, response: state },
    )
    .post(
      "/operator/setup/proof",
      async ({ body }) => printProof(await requirePage(parts).prove({ key: undefined, ...body })),
      {
        summary: "Prove a provider's key by a call, and list the models that it may add",
        needsOperator: true,
        confirmed: true,
        body: t.Object({ provider, key, place }),
        response: proof,
      },
    )
    .post(
      "/operator/setup",
      async ({ body: { models, ...wish }, actor }) => {
        const done = await requirePage(parts).add({ key: undefined, ...wish }, models);
        if (done.state === "written") await record(parts, actor, done);
        return printAdded(done);
      },
      {
        summary: "Add a provider and models of it to the settings of this gateway",
        needsOperator: true,
        confirmed: true,
        body: t.Object({
          provider,
          key,
          place,
          models: t.Array(t.String({ maxLength: 256 }), { minItems: 1, maxItems: MODELS_MAX }),
        }),
        response: added,
      },
    );
}

/** Throws where this gateway does not know its files. */
function requirePage({ platform }: Parts): ProviderPage {
  if (!platform.providers) throw new GatewayError("unknown_item");
  return platform.providers;
}

async function record(
  { database, now }: Parts,
  actor: Actor,
  { upstream, models }: Extract<AddedProvider, { state: "written" }>,
): Promise<void> {
  const change = { action: "settings.provider_added", target: upstream, after: { models } };
  await database.transact((tx) => recordChange(database, tx, actor, change, now()));
}

function printProof({ check, models }: ProvedProvider): typeof proof.static {
  const problem = check.state === "refused" ? check.problem : null;
  return { state: check.state, problem, models: models.map(printModel) };
}

function printModel({ id, context_window: window, cost, can }: KnownModel) {
  return {
    id,
    context_window: window ?? null,
    input_usd: cost?.input ?? null,
    output_usd: cost?.output ?? null,
    can: [...can],
  };
}

function printAdded(done: AddedProvider): typeof added.static {
  return {
    state: done.state,
    problem: done.state === "refused" ? done.problem : null,
    models: done.state === "written" ? [...done.models] : [],
    yaml: done.state === "to_paste" ? done.yaml : null,
    variables: done.state === "to_paste" ? [...done.variables] : [],
  };
}
