// What the API of the scripted Stripe answers.

/** An answer of the API. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

export function listOf(data: readonly object[]): Answer {
  return { status: 200, body: { object: "list", data, has_more: false, url: "/v1/list" } };
}

export function missing(param: string): Answer {
  return refused(404, { code: "resource_missing", param });
}

/** An error with a text that must appear nowhere. */
export function refused(status: number, error: object): Answer {
  return { status, body: { error: { type: "invalid_request_error", message: STRIPE_TEXT, ...error } } };
}

/** A text of Stripe's that must reach no answer and no log. */
export const STRIPE_TEXT = "no-such-key-sk_test_canary";
