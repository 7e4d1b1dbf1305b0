/** How one cause of failure is answered on every wire. */
export interface ErrorRow {
  /** The code of the error contract; several causes may share one. */
  readonly code: string;
  /** Status and type on the chat and embeddings surfaces. */
  readonly chat: readonly [status: number, type: string];
  /** Status and type on the messages surface. */
  readonly messages: readonly [status: number, type: string];
  /** Status on the responses surface, and the code inside its `response.failed`. */
  readonly responses: readonly [status: number, code: string];
  /** `false` sends `x-should-retry: false`; `true` leaves the decision to the client. */
  readonly retry: boolean;
  /** The whole public text. Never contains text of an upstream, a client or a library. */
  readonly message: string;
}

const NOTHING_STORED =
  "Nothing is stored here: send earlier messages or items themselves, on responses with store: false.";

/**
 * Every cause of failure, and how each wire answers it. No status, type or message of an error is written
 * anywhere else.
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
  wrong_header: invalid(400, "The request has a header that is not valid."),
  no_wanted_route: invalid(
    400,
    "No route of this model is within the bounds that the request sets for its routes.",
  ),
  too_many_runs: invalid(400, "This key has begun as many runs with a limit as it may in a day."),
  rejected_by_upstream: invalid(400, "The model does not accept this request."),
  prompt_too_long: knownAs(invalid(400, "The prompt is too long for this model."), "context_length_exceeded"),
  wrong_shape: invalid(422, "The request body failed validation."),
  unpriced_field: invalid(422, "The request asks for an option that has no price here."),
  untranslatable: invalid(422, "The request has a part that no upstream of this model understands."),
  nothing_stored: invalid(422, NOTHING_STORED),
  thread_not_stored: invalid(422, NOTHING_STORED),
  unknown_previous_response: knownAs(
    invalid(400, "The previous response is not known on this connection: send the whole input again."),
    "previous_response_not_found",
  ),
  wrong_stream_id: knownAs(
    invalid(400, "A stream_id has 1 to 256 letters, digits, underscores, hyphens and periods."),
    "invalid_stream_id",
  ),
  too_many_streams: knownAs(
    invalid(400, "This connection has had 32 values of stream_id: use one of them, or connect again."),
    "websocket_stream_limit_reached",
  ),
  socket_too_old: knownAs(
    invalid(400, "This connection has been open for 60 minutes: connect again."),
    "websocket_connection_limit_reached",
  ),

  wrong_signature: invalid(400, "The signature of this event is missing, wrong, or out of date."),

  unknown_key: unauthenticated("invalid_api_key", "The API key is missing or not recognised."),
  key_in_url: unauthenticated(
    "invalid_api_key",
    "The API key is in the URL, where logs keep it: send it as the header x-goog-api-key.",
  ),
  key_revoked: unauthenticated("invalid_api_key", "The API key was revoked while the request ran."),
  key_revoked_charged: unauthenticated(
    "invalid_api_key",
    "The API key was revoked before the answer was complete. The processed tokens were billed.",
  ),
  no_session: unauthenticated("not_authenticated", "The console session is missing or has expired."),
  wrong_password: unauthenticated("invalid_credentials", "The e-mail or password is wrong."),
  code_needed: unauthenticated("invalid_credentials", "This sign-in needs a code of your authenticator app."),
  not_permitted: forbidden("This action is not permitted."),
  not_confirmed: forbidden("This action needs your password again."),

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

  max_cost: unpaid(
    "spending_limit_exceeded",
    "This request may cost more than it allows itself by x-tollgate-max-cost-usd.",
  ),

  model_not_allowed: forbidden(
    "This key may not use this model: GET /v1/models lists those that it may use.",
  ),
  tier_not_allowed: forbidden("This key may not ask for this service tier."),
  paid_tool_not_allowed: forbidden("This key may not use tools that have a fee."),
  account_suspended: forbidden("This account is suspended."),
  account_suspended_charged: forbidden(
    "This account was suspended before the answer was complete. The processed tokens were billed.",
  ),

  unknown_model: notFound("The model does not exist: GET /v1/models lists those that this key may use."),
  unknown_route: notFound("No route matches this method and path. Routes of models begin with /v1."),
  unknown_receipt: notFound("There is no such receipt."),
  unknown_item: notFound("There is nothing here with this id."),

  conflict: final({
    ...columns("conflict", [409, "invalid_request_error"], [409, "conflict_error"]),
    message: "The request conflicts with the current state.",
  }),
  body_too_large: final({
    ...columns("request_too_large", [413, "invalid_request_error"], [413, "request_too_large"]),
    message: "The request body exceeds the size limit of 30 MiB.",
  }),

  sign_in_throttled: throttled("rate_limit_exceeded", "Too many attempts: wait as long as retry-after says."),
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
  too_many_files: throttled(
    "concurrency_exceeded",
    "Too many connections are open: wait as long as retry-after says.",
  ),

  internal: fault("An internal error occurred."),
  internal_charged: fault(
    "An internal error occurred after output had begun. The processed tokens were billed.",
  ),
  shutting_down: fault("The gateway is shutting down: send the request again."),
  shutting_down_charged: fault(
    "The gateway shut down before the answer was complete. The processed tokens were billed.",
  ),
  no_websocket: final({
    ...columns("not_implemented", [426, "server_error"], [426, "api_error"]),
    message: "WebSockets are not available here: send the request over HTTP.",
  }),
  too_many_sockets: final({
    ...columns("not_implemented", [426, "server_error"], [426, "api_error"]),
    message: "Too many WebSockets are open: send the request over HTTP.",
  }),
  not_built: final({
    ...columns("not_implemented", [501, "server_error"], [501, "api_error"]),
    message: "This capability is not available here.",
  }),

  empty_charged: final(
    empty(
      "The model finished without readable output. The processed tokens were billed: raise max_tokens before retrying.",
    ),
  ),
  empty_released: empty("The model finished without readable output. Nothing was charged."),
  upstream_unavailable: unavailable("The model cannot be reached."),
  payments_unavailable: unavailable("The payment provider cannot be reached. Nothing was charged."),
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

/** What a spending limit may bind, as the messages of its errors name it. */
const BOUNDS = {
  key: "this key",
  parent_key: "the parent key",
  account: "this account",
  project: "this project",
  member: "this member",
  end_user: "this end user",
  tag: "this tag",
  run: "this run",
} as const;

export type Bound = keyof typeof BOUNDS;

/** Returns the message of an error of a spending limit, with what the limit binds in the place of the key. */
export function messageOfLimit(cause: Cause, bound: Bound): string {
  return ERRORS[cause].message.replace(BOUNDS.key, BOUNDS[bound]);
}

/** What one error adds to its row. */
export interface ErrorDetail {
  /** The path of the bad field in our own schema (`messages[0].role`), appended to the message. */
  readonly path?: string;
  /** Replaces the message of the row, for texts with numbers or the owner of a limit in them. */
  readonly message?: string | undefined;
  /** Whole seconds, 1 to 60. */
  readonly retryAfterS?: number;
  /** The internal reason, for the log alone. */
  readonly reason?: unknown;
  readonly facts?: RefusalFacts | undefined;
}

/** The numbers of the moment in which a request was refused. Kept for its account, never sent. */
export interface RefusalFacts {
  /** The key of a secret that is known, but no longer in force. */
  readonly key?: { readonly id: string; readonly accountId: string };
  /** Amounts in nano-USD: the smallest acceptable hold, what was available, and that without open holds. */
  readonly money?: { readonly needed: bigint; readonly available: bigint; readonly unheld: bigint };
  /** The spending limit that had the least left. */
  readonly spendingLimit?: SpendingLimitFacts | undefined;
  readonly limit?: LimitFacts;
}

/** A spending limit that was reached. */
export interface SpendingLimitFacts {
  readonly limitId: string;
  /** What it binds, of a template what it counted; `undefined` for the whole account. */
  readonly scope?: { readonly kind: string; readonly id: string } | undefined;
}

/** A limit that was reached. */
export interface LimitFacts {
  readonly name: "requests" | "tokens" | "concurrency";
  /** Whose limit it is. `either` when the limits of both may have been reached. */
  readonly owner: "key" | "account" | "either";
  readonly max: number;
  /** What was counted in the last minute; absent for concurrency. */
  readonly used?: number;
  readonly needed: number;
}

/** The only error that crosses the parts of the gateway: a row of {@link ERRORS} and its details. */
export class GatewayError extends Error {
  override readonly name = "GatewayError";
  readonly row: ErrorRow;
  readonly publicMessage: string;
  readonly retryAfterS: number | undefined;
  /** The name of the row. The `cause` of the `Error` is the internal reason. */
  readonly kind: Cause;
  readonly facts: RefusalFacts | undefined;

  constructor(kind: Cause, detail: ErrorDetail = {}) {
    super(kind, { cause: detail.reason });
    this.kind = kind;
    this.row = ERRORS[kind];
    this.publicMessage = withPath(detail.message ?? this.row.message, detail.path);
    this.retryAfterS = detail.retryAfterS;
    this.facts = detail.facts;
  }
}

/** Returns an error that may be answered: any other thrown value becomes `internal`. */
export function toGatewayError(thrown: unknown): GatewayError {
  return thrown instanceof GatewayError ? thrown : new GatewayError("internal", { reason: thrown });
}

function withPath(message: string, path: string | undefined): string {
  return path === undefined ? message : `${message.replace(/\.$/, "")}: ${path}`;
}

/**
 * Builds the columns of the wires. The responses surface gets the status of the messages surface, and the
 * code itself, which {@link knownAs} may replace.
 */
function columns(code: string, chat: ErrorRow["chat"], messages: ErrorRow["messages"]) {
  const [status] = messages;
  return { code, chat, messages, responses: [status, code] as const, retry: true };
}

/** Replaces the code on the responses surface by the one that its clients know. */
function knownAs<Row extends Pick<ErrorRow, "responses">>(row: Row, code: string) {
  return { ...row, responses: [row.responses[0], code] as const };
}

/** Marks a row as not worth a retry. */
function final<Row extends Omit<ErrorRow, "retry">>(row: Row) {
  return { ...row, retry: false };
}

function invalid(status: number, message: string) {
  const type = "invalid_request_error";
  const row = { ...columns("invalid_request", [status, type], [400, type]), message };
  return final(knownAs(row, "invalid_prompt"));
}

function unauthenticated(code: string, message: string) {
  return final({ ...everywhere(code, 401, "authentication_error"), message });
}

function unpaid(code: string, message: string) {
  const row = { ...everywhere(code, 402, "billing_error"), message };
  return final(knownAs(row, "insufficient_quota"));
}

function forbidden(message: string) {
  return final({ ...everywhere("forbidden", 403, "permission_error"), message });
}

function notFound(message: string) {
  const row = columns("model_not_found", [404, "invalid_request_error"], [404, "not_found_error"]);
  return final({ ...row, message });
}

function throttled(code: string, message: string) {
  const row = everywhere(code, 429, "rate_limit_error");
  return { ...knownAs(row, "rate_limit_exceeded"), message };
}

function fault(message: string) {
  return { ...columns("internal_error", [500, "server_error"], [500, "api_error"]), message };
}

function empty(message: string) {
  return { ...columns("empty_completion", [502, "server_error"], [502, "api_error"]), message };
}

function unavailable(message: string) {
  return { ...columns("upstream_unavailable", [502, "server_error"], [502, "api_error"]), message };
}

function timeout(message: string) {
  return { ...columns("upstream_timeout", [504, "server_error"], [504, "timeout_error"]), message };
}

function everywhere(code: string, status: number, type: string) {
  return columns(code, [status, type], [status, type]);
}
