import { type AnyElysia, getSchemaValidator, type TSchema } from "elysia";
import { GatewayError } from "../../errors.ts";
import { within } from "../../platform.ts";

/** Bodies of the console are small: a sender that takes longer keeps memory and a connection busy. */
const BODY_MS_MAX = 10_000;

export interface BodyBounds {
  readonly bytesMax: number;
  /** The message of a body that is too large. Default: that of `body_too_large`. */
  readonly message?: string;
  /** Default: 10 s. */
  readonly msMax?: number;
}

/**
 * Reads the raw bytes of a body, as they were sent. Rejects with `body_too_large` above `bytesMax`, and with
 * `body_too_slow` when they have not all arrived within 10 s; the rest is not read then.
 */
export async function readRequestBody(
  { headers, body }: Request,
  { bytesMax, message, msMax = BODY_MS_MAX }: BodyBounds,
): Promise<Uint8Array<ArrayBuffer>> {
  const tooLarge = () => new GatewayError("body_too_large", message === undefined ? {} : { message });
  if (Number(headers.get("content-length") ?? 0) > bytesMax) throw tooLarge();
  const reader = body?.getReader();
  const chunks: Uint8Array[] = [];
  const receive = async () => {
    let total = 0;
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
      if (done) return Buffer.concat(chunks);
      total += value.byteLength;
      if (total > bytesMax) throw tooLarge();
      chunks.push(value);
    }
  };
  let isSlow = false;
  try {
    return await within(msMax, receive(), () => {
      isSlow = true;
      throw new GatewayError("body_too_slow");
    });
  } finally {
    // The rest of a body that is too large is discarded, so that its sender sees the error.
    if (isSlow) reader?.cancel().catch(() => undefined);
    else reader?.releaseLock();
  }
}

type Fail = (path: string | undefined) => GatewayError;

const SENT: Fail = (path) => new GatewayError("wrong_shape", path === undefined ? {} : { path });
/** An answer of another shape than its route describes is a fault of ours. */
const ANSWERED: Fail = (path) =>
  new GatewayError("internal", { reason: new TypeError(`An answer has a wrong member: ${path ?? "root"}`) });

/**
 * Makes the schemas of bodies and answers throw errors of ours. Elysia's own error prints the value, in time that
 * grows with the square of its depth. Elysia lets a schema with `~standard` check its values itself.
 * @see https://standardschema.dev
 */
export function replaceChecks(app: AnyElysia): void {
  const replaced = new Map<TSchema, Fail>();
  for (const { hooks } of app.routes) {
    for (const schema of schemasOf(hooks?.body)) replaceCheck(replaced, schema, SENT);
    for (const schema of schemasOf(hooks?.response)) replaceCheck(replaced, schema, ANSWERED);
  }
}

/** Returns the one schema of a body or an answer, or those of its statuses. */
function schemasOf(declared: unknown): readonly TSchema[] {
  if (typeof declared !== "object" || declared === null) return [];
  return isSchema(declared) ? [declared] : Object.values(declared).filter(isSchema);
}

/** Every schema that the routes use describes a type or a union. */
function isSchema(value: object): value is TSchema {
  return "type" in value || "anyOf" in value;
}

function replaceCheck(replaced: Map<TSchema, Fail>, schema: TSchema, fail: Fail): void {
  const before = replaced.get(schema);
  if (before && before !== fail) throw new Error("A schema describes both a body and an answer");
  if (before) return;
  replaced.set(schema, fail);
  Object.defineProperty(schema, "~standard", {
    configurable: true,
    value: { version: 1, vendor: "tollgate", validate: createCheck(schema, fail) },
  });
}

/** Returns a check of bodies that no route declares, because their signed bytes are read first. */
export function createBodyCheck(schema: TSchema): (value: unknown) => void {
  return createCheck(schema, SENT);
}

/** Compiles the schema at its first value. The check returns the value, or throws with the path of its fault. */
function createCheck(schema: TSchema, fail: Fail) {
  let compiled: ReturnType<typeof getSchemaValidator> | undefined;
  return (value: unknown) => {
    // A copy without `~standard`, which would otherwise call this check again.
    compiled ??= getSchemaValidator({ ...schema }, { normalize: false });
    if (compiled.Check(value)) return { value };
    throw fail(printPath(compiled.Errors(value).First()?.path));
  };
}

/** Prints the path of the first bad field: `/limits/0` becomes `limits[0]`. */
export function printPath(pointer: string | undefined): string | undefined {
  const parts = pointer?.split("/").filter(Boolean) ?? [];
  const path = parts.map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`)).join("");
  return path === "" ? undefined : path.replace(/^\./, "");
}
