/** How one failure is said on every wire. */
export interface ErrorRow {
  /** The code of the error contract; several causes share one. */
  readonly code: string;
  /** Status and type on the OpenAI surfaces and the console. */
  readonly chat: readonly [status: number, type: string];
  /** Status and type on the messages surface. */
  readonly messages: readonly [status: number, type: string];
  /** The code inside `response.failed` on the responses surface. */
  readonly responses: string;
  /** The gRPC status number. */
  readonly grpc: number;
  /** `false` is sent as `x-should-retry: false`; `true` leaves the decision to the client. */
  readonly retry: boolean;
  /** The whole public text. Never contains anything that an upstream, a client or a library said. */
  readonly message: string;
}

/**
 * Every cause of failure and how each wire says it. The only such table: no status, type or message
 * of an error is written anywhere else.
 */
export const ERRORS = {
  not_json: invalid(400, "The request body is not valid JSON in UTF-8."),
  body_too_slow: invalid(400, "The request body did not arrive in time."),
  too_many_tokens: invalid(
    400,
    "The request needs more tokens than the tokens-per-minute limit ever admits.",
  ),
  rejected_by_upstream: invalid(400, "The model does not accept this request."),
  prompt_too_long: {
    ...invalid(400, "The prompt is too long for this model."),
    responses: "context_length_exceeded",
  },
  wrong_shape: invalid(422, "The request body failed validation."),
  unpriced_field: invalid(422, "The request asks for an option that has no price here."),

  unknown_key: unauthenticated("invalid_api_key", "The API key is missing or not recognised."),
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

  model_not_allowed: forbidden("This key may not use this model."),
  account_suspended: forbidden("This account is suspended."),
  not_permitted: forbidden("This action is not permitted."),

  unknown_model: notFound("The model does not exist."),
  unknown_route: notFound("No route matches this method and path."),
  unknown_receipt: notFound("There is no such receipt."),

  conflict: {
    code: "conflict",
    chat: [409, "invalid_request_error"],
    messages: [409, "conflict_error"],
    responses: "conflict",
    grpc: 6,
    retry: false,
    message: "The request conflicts with the current state.",
  },
  body_too_large: {
    code: "request_too_large",
    chat: [413, "invalid_request_error"],
    messages: [413, "request_too_large"],
    responses: "request_too_large",
    grpc: 8,
    retry: false,
    message: "The request body exceeds the size limit of 30 MiB.",
  },

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

  internal: server("internal_error", 500, "api_error", 13, "An internal error occurred."),
  internal_charged: server(
    "internal_error",
    500,
    "api_error",
    13,
    "An internal error occurred after output had begun. The processed tokens were billed.",
  ),
  not_built: {
    ...server("not_implemented", 501, "api_error", 12, "This capability is not available here."),
    retry: false,
  },
  empty_charged: {
    ...server(
      "empty_completion",
      502,
      "api_error",
      14,
      "The model finished without readable output. The processed tokens were billed: raise max_tokens before retrying.",
    ),
    retry: false,
  },
  empty_released: server(
    "empty_completion",
    502,
    "api_error",
    14,
    "The model finished without readable output. Nothing was charged.",
  ),
  upstream_unavailable: server("upstream_unavailable", 502, "api_error", 14, "The model cannot be reached."),
  upstream_broke_charged: server(
    "upstream_unavailable",
    502,
    "api_error",
    14,
    "The model stopped before its answer was complete. The processed tokens were billed.",
  ),
  upstream_timeout: server("upstream_timeout", 504, "timeout_error", 4, "The model ran out of time."),
  upstream_timeout_charged: server(
    "upstream_timeout",
    504,
    "timeout_error",
    4,
    "The model ran out of time before its answer was complete. The processed tokens were billed.",
  ),
  upstream_total_timeout: {
    ...server("upstream_timeout", 504, "timeout_error", 4, "The answer took longer than a request may."),
    retry: false,
  },
  upstream_total_timeout_charged: {
    ...server(
      "upstream_timeout",
      504,
      "timeout_error",
      4,
      "The answer took longer than a request may. The processed tokens were billed.",
    ),
    retry: false,
  },
} as const satisfies Record<string, ErrorRow>;

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

function invalid<const Status extends number>(status: Status, message: string) {
  return {
    code: "invalid_request",
    chat: [status, "invalid_request_error"],
    messages: [400, "invalid_request_error"],
    responses: "invalid_prompt",
    grpc: 3,
    retry: false,
    message,
  } as const;
}

function unauthenticated<const Code extends string>(code: Code, message: string) {
  const said = [401, "authentication_error"] as const;
  return { code, chat: said, messages: said, responses: code, grpc: 16, retry: false, message } as const;
}

function unpaid<const Code extends string>(code: Code, message: string) {
  const said = [402, "billing_error"] as const;
  return {
    code,
    chat: said,
    messages: said,
    responses: "insufficient_quota",
    grpc: 9,
    retry: false,
    message,
  } as const;
}

function forbidden(message: string) {
  const said = [403, "permission_error"] as const;
  return {
    code: "forbidden",
    chat: said,
    messages: said,
    responses: "forbidden",
    grpc: 7,
    retry: false,
    message,
  } as const;
}

function notFound(message: string) {
  return {
    code: "model_not_found",
    chat: [404, "invalid_request_error"],
    messages: [404, "not_found_error"],
    responses: "model_not_found",
    grpc: 5,
    retry: false,
    message,
  } as const;
}

function throttled<const Code extends string>(code: Code, message: string) {
  const said = [429, "rate_limit_error"] as const;
  return {
    code,
    chat: said,
    messages: said,
    responses: "rate_limit_exceeded",
    grpc: 8,
    retry: true,
    message,
  } as const;
}

function server<const Code extends string>(
  code: Code,
  status: number,
  type: string,
  grpc: number,
  message: string,
) {
  return {
    code,
    chat: [status, "server_error"],
    messages: [status, type],
    responses: code,
    grpc,
    retry: true,
    message,
  } as const;
}
