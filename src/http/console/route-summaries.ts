/** Routes of the console below `/console/api`, by group, each with what it does. The description prints them. */
const GROUPS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "Sign-in": {
    "get /setup": "Read what a visitor may do before the sign-in",
    "post /sign-in": "Sign in by e-mail and password",
    "post /sign-up": "Create a person, by invitation where sign-up is not open",
    "post /sign-out": "End the session",
    "post /password/forgot": "Mail a link to choose a new password",
    "post /password/reset": "Choose a new password by the token of a mail",
    "post /email/verify": "Confirm an e-mail address by the token of a mail",
  },
  Me: {
    "get /me": "Read the signed-in person, its accounts and rights",
    "patch /me": "Change the name or the e-mail address",
    "post /me/password": "Change the password",
    "post /me/confirm": "Give the password again, for steps that ask for a fresh one",
    "post /me/email-verification": "Mail the link that confirms the address again",
    "get /me/sessions": "List the open sessions",
    "delete /me/sessions/{session}": "End a session",
    "post /me/sessions/end-others": "End all sessions but this one",
  },
  Accounts: {
    "post /accounts": "Create an account",
    "get /accounts/{account}": "Read an account, and why its requests are refused, if they are",
    "patch /accounts/{account}": "Change an account",
    "get /find": "Find keys, models, accounts and request ids",
  },
  Keys: {
    "get /accounts/{account}/keys": "List the keys",
    "get /accounts/{account}/key-names": "List the names and spending limits of all keys",
    "post /accounts/{account}/keys": "Create a key; its secret is shown once",
    "get /accounts/{account}/keys/{key}": "Read a key and the limits that bind it",
    "patch /accounts/{account}/keys/{key}": "Change a key",
    "post /accounts/{account}/keys/{key}/rotate": "Give a key a new secret; the old one ends after 24 hours",
    "post /accounts/{account}/keys/{key}/end-previous": "End the secret that a rotation replaced",
    "post /accounts/{account}/keys/{key}/revoke": "Revoke a key",
    "post /accounts/{account}/keys/{key}/simulate": "Replay the last 7 days of a key against other limits",
  },
  "Management keys": {
    "get /accounts/{account}/management-keys": "List the management keys of an account",
    "post /accounts/{account}/management-keys": "Create a management key; its secret is shown once",
    "delete /accounts/{account}/management-keys/{key}": "Revoke a management key",
  },
  Models: {
    "get /accounts/{account}/models": "List the models with their prices",
    "post /accounts/{account}/models/estimate": "Estimate the cost and the hold of a request",
    "post /accounts/{account}/playground": "Stream a chat as a key, by its id",
  },
  Requests: {
    "get /accounts/{account}/requests": "List the requests, newest first",
    "get /accounts/{account}/requests/live": "Stream new and changed requests",
    "get /accounts/{account}/requests/{id}": "Read the receipt of a request",
    "get /accounts/{account}/refusals": "List the refused requests of the last 7 days",
    "get /accounts/{account}/refusals/{request_id}": "Explain why a request was refused",
  },
  Usage: {
    "get /accounts/{account}/usage": "Read the usage of a range, grouped",
    "get /accounts/{account}/usage.csv": "Export the usage of a range",
    "get /accounts/{account}/usage/anomalies": "List days that cost much more than usual",
    "post /accounts/{account}/what-if": "Price the usage of a range as another model",
    "get /accounts/{account}/links": "List the shared links",
    "post /accounts/{account}/links": "Share usage by a link; its token is shown once",
    "delete /accounts/{account}/links/{link}": "Revoke a shared link",
    "get /shared/{token}": "Read the usage that a link shares",
  },
  Wallet: {
    "get /accounts/{account}/wallet": "Read the balances",
    "get /accounts/{account}/wallet/transfers": "List the transfers, newest first",
    "get /accounts/{account}/wallet/holds": "List the holds of running requests",
    "get /accounts/{account}/wallet/statements": "List the months that have a statement",
    "get /accounts/{account}/wallet/statement.csv": "Export the statement of a month",
    "get /accounts/{account}/wallet/proof": "Prove the balances from transfers and holds",
    "post /accounts/{account}/wallet/redeem": "Redeem a code",
    "post /accounts/{account}/wallet/checkouts": "Start a payment by Stripe Checkout",
    "get /accounts/{account}/wallet/checkouts/{checkout}": "Read the state of a payment",
    "post /stripe/webhook": "Receive an event of Stripe",
  },
  Notices: {
    "get /accounts/{account}/notices": "List the notices, newest first",
    "post /accounts/{account}/notices/{notice}/read": "Mark a notice as read",
    "get /accounts/{account}/notice-rules": "List the notice rules",
    "post /accounts/{account}/notice-rules": "Create a notice rule",
    "patch /accounts/{account}/notice-rules/{rule}": "Change, pause or resume a notice rule",
    "delete /accounts/{account}/notice-rules/{rule}": "Delete a notice rule",
    "post /accounts/{account}/notice-rules/{rule}/test": "Send a test notice",
    "get /accounts/{account}/notice-rules/{rule}/secret": "Read the secret that signs the webhook",
    "get /accounts/{account}/notice-rules/{rule}/deliveries": "List the mails and webhook calls of a rule",
  },
  Team: {
    "get /accounts/{account}/members": "List the members",
    "patch /accounts/{account}/members/{person}": "Change the role of a member",
    "delete /accounts/{account}/members/{person}": "Remove a member",
    "post /accounts/{account}/leave": "Leave the account",
    "get /accounts/{account}/invitations": "List invitations of every state, newest first",
    "post /accounts/{account}/invitations": "Invite a person by e-mail",
    "post /accounts/{account}/invitations/{invitation}/resend": "Send an invitation again, with a new link",
    "delete /accounts/{account}/invitations/{invitation}": "Revoke an invitation",
    "get /invitations/{token}": "Read an invitation by the token of its mail",
    "post /invitations/{token}/accept": "Accept an invitation",
    "get /accounts/{account}/audit-trail": "List the changes in an account",
    "get /accounts/{account}/audit-trail.csv": "Export the changes in an account",
  },
  Operators: {
    "get /operator/accounts": "List all accounts",
    "post /operator/accounts/{id}/suspend": "Suspend an account",
    "post /operator/accounts/{id}/resume": "Resume a suspended account",
    "put /operator/accounts/{id}/markup": "Set the factor over upstream costs that an account pays",
    "post /operator/accounts/{id}/act": "Act inside an account for 30 minutes",
    "delete /operator/acting": "Stop acting inside an account",
    "post /operator/accounts/{id}/top-ups": "Top up the wallet of an account",
    "post /operator/accounts/{id}/corrections": "Take money off the wallet of an account",
    "post /operator/accounts/{id}/refunds": "Refund a request",
    "get /operator/codes": "List the redeem codes",
    "post /operator/codes": "Create redeem codes; they are shown once",
    "delete /operator/codes/{code}": "Revoke a redeem code",
    "get /operator/people": "List all people",
    "post /operator/people/{person}/operator": "Give or take the rights of an operator",
    "post /operator/people/{person}/end-sessions": "End all sessions of a person",
    "get /operator/management-keys": "List the management keys of the platform",
    "post /operator/management-keys": "Create a management key of the platform",
    "delete /operator/management-keys/{key}": "Revoke a management key of the platform",
    "get /operator/usage": "Read the usage of all accounts",
    "get /operator/usage.csv": "Export the usage of all accounts",
    "get /operator/health": "Read the state of the gateway and its upstreams",
    "post /operator/upstreams/{name}/probe": "Ask an upstream for its models now",
    "post /operator/upstreams/{name}/circuit": "Open or close the circuit of an upstream",
    "post /operator/upstreams/{name}/keys/{label}/probe":
      "Ask an upstream for its models with one of its keys",
    "post /operator/upstreams/{name}/keys/{label}/circuit":
      "Open or close the circuit of a key of an upstream",
    "get /operator/audit": "Read the result of the last audit",
    "post /operator/audit": "Start an audit of the ledger",
    "get /operator/audit-trail": "List the changes in all accounts",
  },
  Description: { "get /openapi.json": "Describe this API as OpenAPI 3.1" },
};

/** The summary of a route and the group that it belongs to. */
interface RouteSummary {
  readonly summary: string;
  readonly group: string;
}

const BY_ROUTE: ReadonlyMap<string, RouteSummary> = new Map(
  Object.entries(GROUPS).flatMap(([group, routes]) =>
    Object.entries(routes).map(([route, summary]) => [route, { summary, group }] as const),
  ),
);

/** Every route that has a summary: "get /accounts/{account}". */
export const SUMMARIZED_ROUTES: readonly string[] = [...BY_ROUTE.keys()];

/** Finds the summary of a route by its path below `/console/api`. */
export function findSummary(method: string, path: string): RouteSummary | undefined {
  return BY_ROUTE.get(`${method} ${path}`);
}

/** The order of the groups in the description. */
export function placeOf(group: string): number {
  return Object.keys(GROUPS).indexOf(group);
}
