import { createClient } from "./client.ts";

/** The envelope of every failure. */
interface ErrorBody {
  readonly error: { readonly message: string; readonly type: string; readonly code: string };
}

/** What a call of the client resolves with. */
interface Answer<Data> {
  readonly data: Data | null;
  readonly error: { readonly status: unknown; readonly value: unknown } | null;
  readonly status: number;
  readonly headers: unknown;
}

/** A failed call of the console's API. `status` 0: the server cannot be reached. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  /** "conflict"; "unreachable" when there was no answer. */
  readonly code: string;
  readonly requestId: string | undefined;
  readonly retryAfterS: number | undefined;
  /** What the server asks for beside what was sent: "code" of an authenticator app. */
  readonly asksFor: string | undefined;
  /** The whole body: a 409 has the row of the server as `current`. */
  readonly body: unknown;

  constructor(status: number, body: unknown, headers: Headers) {
    const error = isErrorBody(body) ? body.error : undefined;
    super(error?.message ?? (status === 0 ? "The server cannot be reached." : "The request failed."));
    this.status = status;
    this.code = error?.code ?? (status === 0 ? "unreachable" : "internal_error");
    this.requestId = headers.get("x-request-id") ?? undefined;
    this.retryAfterS = Number(headers.get("retry-after")) || undefined;
    this.asksFor = headers.get("x-tollgate-confirm") ?? undefined;
    this.body = body;
  }
}

/** The client of the console's API: `api.me.get()`, `api.accounts({ account }).keys.get()`. */
export const api = createClient("/console/api");

/**
 * Resolves with the data of a call: `call(() => api.me.get())`. Throws {@link ApiError}. Where the server
 * asks for the password again, shows its dialog and repeats the call.
 */
export async function call<Data>(send: () => Promise<Answer<Data>>): Promise<Data> {
  const answer = await sendOnce(send);
  if (!wantsPassword(answer)) return unwrap(answer);
  if (!(await confirmPassword())) return unwrap(answer);
  return unwrap(await sendOnce(send));
}

async function sendOnce<Data>(send: () => Promise<Answer<Data>>): Promise<Answer<Data>> {
  try {
    return await send();
  } catch {
    throw new ApiError(0, undefined, new Headers());
  }
}

function wantsPassword({ status, headers }: Answer<unknown>): boolean {
  return status === 403 && readHeaders(headers).get("x-tollgate-confirm") === "password";
}

function unwrap<Data>({ data, error, status, headers }: Answer<Data>): Data {
  // Safe because an answer without an error has the data of its schema, which may be null.
  if (error === null) return data as Data;
  const received = readHeaders(headers);
  // Every answer of ours has a request id; one of a proxy has none.
  throw new ApiError(received.has("x-request-id") ? status : 0, error.value, received);
}

function readHeaders(headers: unknown): Headers {
  return headers instanceof Headers ? headers : new Headers((headers ?? {}) as Record<string, string>);
}

function isErrorBody(body: unknown): body is ErrorBody {
  if (typeof body !== "object" || body === null || !("error" in body)) return false;
  const { error } = body;
  return typeof error === "object" && error !== null && "code" in error && "message" in error;
}

type Confirm = () => Promise<boolean>;

let handler: Confirm | undefined;

/** Asks for the password again. Resolves with `false` when it was not given. */
function confirmPassword(): Promise<boolean> {
  return handler?.() ?? Promise.resolve(false);
}

/** Sets what asks: the dialog of the shell. */
export function setConfirmPassword(confirm: Confirm | undefined): void {
  handler = confirm;
}
