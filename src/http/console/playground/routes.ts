import { Elysia, type Static, t } from "elysia";
import { findCaller } from "../../../accounts/keys/authenticate.ts";
import type { ApiKey, Caller } from "../../../accounts/keys/key.ts";
import type { Gateway } from "../../../gateway/gateway.ts";
import type { Call } from "../../../gateway/request.ts";
import { runRequest } from "../../../gateway/run-request.ts";
import { WIRES } from "../../../wire/registry.ts";
import { runRoute } from "../../inference.ts";
import type { PartsOf } from "../console-parts.ts";
import { createGuard } from "../guard.ts";
import { requireKey, requireOwn } from "../keys/edits.ts";
import { accountParams, keyId } from "../keys/shapes.ts";
import { contextOf } from "../request-context.ts";
import { receiptOf } from "../requests/routes.ts";
import { PlaygroundReply } from "./reply.ts";

const MESSAGES_MAX = 1000;
/** Parts of one message: a text and some images. */
const PARTS_MAX = 32;
const CALLS_MAX = 128;

const text = t.Object({ type: t.Literal("text"), text: t.String() });
/** Images come with the message: an address would be fetched by the model's provider. */
const image = t.Object({
  type: t.Literal("image_url"),
  image_url: t.Object({ url: t.String({ pattern: "^data:image/[a-z.+-]{1,32};base64," }) }),
});
const call = t.Object({
  id: t.String({ minLength: 1, maxLength: 256 }),
  type: t.Literal("function"),
  function: t.Object({ name: t.String({ minLength: 1, maxLength: 256 }), arguments: t.String() }),
});

const message = t.Union([
  t.Object({ role: t.Literal("system"), content: t.String() }),
  t.Object({
    role: t.Literal("user"),
    content: t.Union([t.String(), t.Array(t.Union([text, image]), { minItems: 1, maxItems: PARTS_MAX })]),
  }),
  t.Object({
    role: t.Literal("assistant"),
    content: t.Nullable(t.String()),
    tool_calls: t.Optional(t.Array(call, { minItems: 1, maxItems: CALLS_MAX })),
  }),
  t.Object({ role: t.Literal("tool"), tool_call_id: t.String({ maxLength: 256 }), content: t.String() }),
]);

const tool = t.Object({
  type: t.Literal("function"),
  function: t.Object({
    name: t.String({ minLength: 1, maxLength: 256 }),
    description: t.Optional(t.String()),
    /** A schema in JSON, which the provider checks. */
    parameters: t.Optional(t.Record(t.String(), t.Unknown())),
    strict: t.Optional(t.Boolean()),
  }),
});

/** A chat in OpenAI's form, as a key of the account. */
const playgroundBody = t.Object({
  key: keyId,
  model: t.String({ minLength: 1, maxLength: 256 }),
  messages: t.Array(message, { minItems: 1, maxItems: MESSAGES_MAX }),
  tools: t.Optional(t.Array(tool, { minItems: 1, maxItems: CALLS_MAX })),
  max_tokens: t.Optional(t.Integer({ minimum: 1, maximum: 10_000_000 })),
  temperature: t.Optional(t.Number({ minimum: 0, maximum: 2 })),
});

type Parts = PartsOf<"ledger" | "gateway" | "running">;

/** The name of the playground on receipts and in the log. */
const SURFACE = "playground";
const ROUTE = "/accounts/:account/playground";

/**
 * A streamed chat as a key, by its id: limits, hold and receipt are those of the key. Developers use the keys
 * that they created, because a request spends what the key may spend.
 */
export function playgroundRoutes(parts: Parts) {
  return new Elysia().use(createGuard(parts, "Models")).post(
    ROUTE,
    async ({ account, actor, role, body, request }) => {
      const key = await requireKey(parts, account, body.key);
      requireOwn(key, { actor, role });
      return chat(parts, { key, body, request });
    },
    {
      needs: "playground",
      params: accountParams,
      body: playgroundBody,
      summary: "Stream a chat as a key, by its id",
      detail: {
        description:
          "Server-sent events: `start` {request_id, granted_usd}, `delta` {text}, `reasoning` {text}, " +
          "`tool_call` {index, id, name, arguments} piece by piece, " +
          "`cost` {spent_usd, output_tokens}, and `end` {receipt} or `error` {error, receipt}.",
      },
    },
  );
}

interface Chat {
  readonly key: ApiKey;
  readonly body: Static<typeof playgroundBody>;
  readonly request: Request;
}

/** Runs the story of every request, as the key. Resolves once the status of the answer is known. */
async function chat(parts: Parts, { key, body, request }: Chat): Promise<Response> {
  const gateway = parts.gateway();
  const { requestId, received } = contextOf(request);
  const reply = new PlaygroundReply({ received, requestId, clock: gateway.clock });
  const call = createCall(gateway, requestId, { body, reply });
  const run = {
    route: { path: `/console/api${ROUTE}`, surface: SURFACE, run: runRequest },
    call,
    reply,
    body: { release: () => undefined },
    request: received,
    running: parts.running,
  };
  void runAndFinish(parts, { gateway: actingAs(parts, key, gateway), key, run });
  return reply.response;
}

/** A gateway whose caller is the key: a session has authorised the request, and keys are stored as digests. */
function actingAs({ database, now }: Parts, { id, accountId }: ApiKey, gateway: Gateway): Gateway {
  const authenticate = (): Promise<Caller> => findCaller(database, { accountId, keyId: id, nowMs: now() });
  return { ...gateway, authenticate };
}

function createCall(
  { clock }: Gateway,
  id: string,
  { body, reply }: { readonly body: Chat["body"]; readonly reply: PlaygroundReply },
): Call {
  const { key: _, ...asked } = body;
  const bytes = Buffer.from(JSON.stringify({ ...asked, stream: true }));
  return {
    id,
    wire: WIRES.chat,
    surface: SURFACE,
    secret: undefined,
    headers: {},
    query: "",
    allowsClamp: false,
    startedAt: clock(),
    createdAtS: Math.floor(Date.now() / 1000),
    readBody: async () => [bytes],
    onHeld: (held) => reply.start(held),
    record: {},
    progress: { waitedMs: 0 },
  };
}

interface PlaygroundRun {
  readonly gateway: Gateway;
  readonly key: ApiKey;
  readonly run: Parameters<typeof runRoute>[1] & { readonly reply: PlaygroundReply };
}

/** Everybody sees the receipt in a playground as members do. */
const NO_OPERATOR = { isOperator: false };

/** Never rejects. The receipt is read after the settlement, and is missing while the ledger is away. */
async function runAndFinish(parts: Parts, { gateway, key, run }: PlaygroundRun): Promise<void> {
  await runRoute(gateway, run);
  if (!run.reply.held) return;
  const place = { accountId: key.accountId, id: run.call.id };
  const receipt = await receiptOf(parts, NO_OPERATOR, place).catch(() => null);
  run.reply.finish(receipt);
}
