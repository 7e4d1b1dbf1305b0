import { t } from "elysia";
import { keyId } from "../keys/shapes.ts";

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
export const playgroundBody = t.Object({
  key: keyId,
  model: t.String({ minLength: 1, maxLength: 256 }),
  messages: t.Array(message, { minItems: 1, maxItems: MESSAGES_MAX }),
  tools: t.Optional(t.Array(tool, { minItems: 1, maxItems: CALLS_MAX })),
  max_tokens: t.Optional(t.Integer({ minimum: 1, maximum: 10_000_000 })),
  temperature: t.Optional(t.Number({ minimum: 0, maximum: 2 })),
});
