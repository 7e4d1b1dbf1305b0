/** How one failure is said on every wire. */
export interface ErrorRow {
  /** The code of the error contract; several causes share one. */
  readonly code: string;
  /** Status and type on the OpenAI surfaces and the console. */
  readonly chat: readonly [status: number, type: string];
  /** Status and type on the messages surface. */
  readonly messages: readonly [status: number, type: string];
  /** Status on the responses surface, and the code inside its `response.failed`. */
  readonly responses: readonly [status: number, code: string];
  /** The gRPC status number. */
  readonly grpc: number;
  /** `false` is sent as `x-should-retry: false`; `true` leaves the decision to the client. */
  readonly retry: boolean;
  /** The whole public text. Never contains anything that an upstream, a client or a library said. */
  readonly message: string;
}

const NOTHING_STORED =
  "Nothing is stored here: send earlier messages or items themselves, on responses with store: false.";

/**
 * Every cause of failure and how each wire says it. The only such table: no status, type or message
 * of an error is written anywhere else.
 */
export const ERRORS = {
  not_json: invalid(400, "The request body is not valid JSON in UTF-8."),
  encoded_body: invalid(
    400,
    "The request body has a content-encoding, which is not supported: send it uncompressed.",
  ),
  body_too_slow: invalid(400, "The request body did not arrive in time."),
  too_many_tokens: invalid(
    400,
    "The request needs more tokens than the tokens-per-minute limit ever admits.",
  ),
  rejected_by_upstream: invalid(400, "The model does not accept this request."),
  prompt_too_long: knownAs(invalid(400, "The prompt is too long for this model."), "context_length_exceeded"),
  wrong_shape: invalid(422, "The request body failed validation."),
  unpriced_field: invalid(422, "The request asks for an option that has no price here."),
  untranslatable: invalid(422, "The request has a part that no upstream of this model understands."),
  nothing_stored: invalid(422, NOTHING_STORED),
  thread_not_stored: invalid(422, NOTHING_STORED),

  unknown_key: unauthenticated("invalid_api_key", "The API key is missing or not recognised."),
  key_revoked: unauthenticated("invalid_api_key", "The API key was revoked while the request ran."),
  key_revoked_charged: unauthenticated(
    "invalid_api_key",
    "The API key was revoked before the answer was complete. The processed tokens were billed.",
  ),
  no_session: unauthenticated("not_authenticated", "The console session is missing or has expired."),
  wrong_password: unauthenticated("invalid_credentials", "The e-mail or password is wrong."),

  wallet_empty: unpaid(
    "insufficient_balance",
    "The wallet balance is too low for this request: top up the wallet.",
  ),
  wallet_on_hold: unpaid(
    "insufficient_balance",
    "The wallet covers this request only once running requests finish: their money is on hold.",
  ),
  spending_limit: unpaid("spending_limit_exceeded", "The spending limit of this key is used up."),
  spending_limit_short: unpaid(
    "spending_limit_exceeded",
    "What is left of this key's spending limit is less than this request may cost.",
  ),
  spending_limit_on_hold: unpaid(
    "spending_limit_exceeded",
    "The spending limit of this key covers this request only once running requests finish.",
  ),

  model_not_allowed: forbidden("This key may not use this model."),
  account_suspended: forbidden("This account is suspended."),
  account_suspended_charged: forbidden(
    "This account was suspended before the answer was complete. The processed tokens were billed.",
  ),
  not_permitted: forbidden("This action is not permitted."),

  unknown_model: notFound("The model does not exist."),
  unknown_route: notFound("No route matches this method and path."),
  unknown_receipt: notFound("There is no such receipt."),

  conflict: final({
    ...said("conflict", [409, "invalid_request_error"], [409, "conflict_error"]),
    grpc: 6,
    message: "The request conflicts with the current state.",
  }),
  body_too_large: final({
    ...said("request_too_large", [413, "invalid_request_error"], [413, "request_too_large"]),
    grpc: 8,
    message: "The request body exceeds the size limit of 30 MiB.",
  }),

  rate_limited: throttled(
    "rate_limit_exceeded",
    "The per-minute limit is reached: wait as long as retry-after says.",
  ),
  too_concurrent: throttled(
    "concurrency_exceeded",
    "The limit of concurrent requests is reached: wait for a running request to finish.",
  ),
  too_many_body_bytes: throttled(
    "concurrency_exceeded",
    "Too many large request bodies are in flight: wait for a running request to finish.",
  ),

  internal: fault("An internal error occurred."),
  internal_charged: fault(
    "An internal error occurred after output had begun. The processed tokens were billed.",
  ),
  shutting_down: fault("The gateway is shutting down: send the request again."),
  shutting_down_charged: fault(
    "The gateway shut down before the answer was complete. The processed tokens were billed.",
  ),
  not_built: final({
    ...said("not_implemented", [501, "server_error"], [501, "api_error"]),
    grpc: 12,
    message: "This capability is not available here.",
  }),

  empty_charged: final(
    empty(
      "The model finished without readable output. The processed tokens were billed: raise max_tokens before retrying.",
    ),
  ),
  empty_released: empty("The model finished without readable output. Nothing was charged."),
  upstream_unavailable: unavailable("The model cannot be reached."),
  answer_too_large: final(unavailable("The model's answer is too large to pass on. Nothing was charged.")),
  upstream_broke_charged: unavailable(
    "The model stopped before its answer was complete. The processed tokens were billed.",
  ),
  upstream_timeout: timeout("The model ran out of time."),
  upstream_timeout_charged: timeout(
    "The model ran out of time before its answer was complete. The processed tokens were billed.",
  ),
  upstream_total_timeout: final(timeout("The answer took longer than a request may.")),
  upstream_total_timeout_charged: final(
    timeout("The answer took longer than a request may. The processed tokens were billed."),
  ),
} satisfies Record<string, ErrorRow>;

export type Cause = keyof typeof ERRORS;

/** What a cause may add to its row. */
export interface ErrorDetail {
  /** Where in our own schema the body is wrong (`messages[0].role`); the only text that joins a message. */
  readonly path?: string;
  /** Replaces the row's message where the design fixes a text with numbers in it. */
  readonly message?: string;
  /** Whole seconds, 1 to 60. */
  readonly retryAfterS?: number;
  /** The true reason, for the log; never leaves the process otherwise. */
  readonly reason?: unknown;
}

/** The one error that crosses our parts: a row of {@link ERRORS} and what is particular to this time. */
export class GatewayError extends Error {
  override readonly name = "GatewayError";
  readonly row: ErrorRow;
  readonly publicMessage: string;
  readonly retryAfterS: number | undefined;
  readonly kind: Cause;

  constructor(kind: Cause, detail: ErrorDetail = {}) {
    super(kind, { cause: detail.reason });
    this.kind = kind;
    this.row = ERRORS[kind];
    this.publicMessage = detail.message ?? withPath(this.row.message, detail.path);
    this.retryAfterS = detail.retryAfterS;
  }
}

/** Turns whatever was thrown into an error that may be shown: everything unknown is `internal`. */
export function toGatewayError(thrown: unknown): GatewayError {
  return thrown instanceof GatewayError ? thrown : new GatewayError("internal", { reason: thrown });
}

function withPath(message: string, path: string | undefined): string {
  return path === undefined ? message : `${message.replace(/\.$/, "")}: ${path}`;
}

/**
 * How a code is said on the wires; on the responses surface with the messages' status, and under its own name
 * unless a row says otherwise.
 */
function said(code: string, chat: ErrorRow["chat"], messages: ErrorRow["messages"]) {
  const [status] = messages;
  return { code, chat, messages, responses: [status, code] as const, retry: true };
}

/** A row under the name that clients of the responses surface know. */
function knownAs<Row extends Pick<ErrorRow, "responses">>(row: Row, code: string) {
  return { ...row, responses: [row.responses[0], code] as const };
}

/** Retrying does not help. */
function final<Row extends Omit<ErrorRow, "retry">>(row: Row) {
  return { ...row, retry: false };
}

function invalid(status: number, message: string) {
  const type = "invalid_request_error";
  const row = { ...said("invalid_request", [status, type], [400, type]), grpc: 3, message };
  return final(knownAs(row, "invalid_prompt"));
}

function unauthenticated(code: string, message: string) {
  return final({ ...everywhere(code, 401, "authentication_error"), grpc: 16, message });
}

function unpaid(code: string, message: string) {
  const row = { ...everywhere(code, 402, "billing_error"), grpc: 9, message };
  return final(knownAs(row, "insufficient_quota"));
}

function forbidden(message: string) {
  return final({ ...everywhere("forbidden", 403, "permission_error"), grpc: 7, message });
}

function notFound(message: string) {
  const row = said("model_not_found", [404, "invalid_request_error"], [404, "not_found_error"]);
  return final({ ...row, grpc: 5, message });
}

function throttled(code: string, message: string) {
  const row = everywhere(code, 429, "rate_limit_error");
  return { ...knownAs(row, "rate_limit_exceeded"), grpc: 8, message };
}

function fault(message: string) {
  return { ...said("internal_error", [500, "server_error"], [500, "api_error"]), grpc: 13, message };
}

function empty(message: string) {
  return { ...said("empty_completion", [502, "server_error"], [502, "api_error"]), grpc: 14, message };
}

function unavailable(message: string) {
  return { ...said("upstream_unavailable", [502, "server_error"], [502, "api_error"]), grpc: 14, message };
}

function timeout(message: string) {
  return { ...said("upstream_timeout", [504, "server_error"], [504, "timeout_error"]), grpc: 4, message };
}

function everywhere(code: string, status: number, type: string) {
  return said(code, [status, type], [status, type]);
}
