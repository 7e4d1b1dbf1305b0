import { t } from "elysia";
import { id, oneOf, time, usd } from "../shapes.ts";

/** The state of one key of an upstream. */
const keyState = {
  circuit: oneOf(["closed", "open", "half_open"]),
  is_forced: t.Boolean({ description: "Whether an operator opened the circuit" }),
  is_rejected: t.Boolean({ description: "Whether the provider rejected the key" }),
  opens_again_at: t.Nullable(t.String({ description: "When the next probe may start" })),
  in_flight: t.Integer(),
  failures: t.Integer({ description: "Consecutive failures of a closed circuit" }),
  cooldown_until: t.Nullable(time),
};
const upstreamKey = t.Object({ label: t.String(), weight: t.Integer(), ...keyState });
export const upstream = t.Object({
  name: t.String(),
  ...keyState,
  models: t.Array(t.String()),
  recent: t.Object(
    {
      attempts: t.Integer(),
      failed: t.Integer({ description: "Attempts that the upstream is to blame for" }),
    },
    { description: "The last 5 minutes of all gateways, up to 15 s late" },
  ),
  keys: t.Array(upstreamKey, { description: "The keys of a pool; empty for an upstream with one key" }),
});
const limiter = t.Object({
  mode: oneOf(["shared", "local", "denying"]),
  backend: oneOf(["redis", "memory"]),
});
const ledger = t.Object({
  mode: oneOf(["local", "remote"]),
  open_holds: t.Integer(),
  held_usd: usd,
  oldest_hold_at: t.Nullable(time),
  roll_up_closed_to: t.Nullable(time),
  stale_hours: t.Integer(),
  is_backfilling: t.Boolean(),
});
const backlog = t.Nullable(t.Object({ entries: t.Integer(), oldest_at: t.Nullable(time) }), {
  description: "What waits; null while the database does not answer",
});
const mailServer = t.Object({
  problem: t.Nullable(oneOf(["login_refused", "no_answer"])),
  checked_at: t.Nullable(time),
});
/** What concerns an operator on every page. */
export const operatorNow = t.Object({
  resting: t.Array(
    t.Object({
      name: t.String(),
      is_forced: keyState.is_forced,
      is_rejected: keyState.is_rejected,
      until: t.Nullable(time, { description: "Null until it is probed, or an operator closes its circuit" }),
    }),
  ),
});
export const health = t.Object({
  upstreams: t.Array(upstream),
  limiter,
  ledger: t.Nullable(ledger),
  outbox: t.Object({ entries: t.Integer(), oldest_at: t.Nullable(time) }),
  mails: backlog,
  webhooks: backlog,
  mail_server: t.Nullable(mailServer, { description: "Null when mails are printed on stderr" }),
  database: oneOf(["sqlite", "postgres"]),
  version: t.String(),
  uptime_s: t.Integer(),
  memory_bytes: t.Integer(),
  gateways: t.Integer(),
});
export const probe = t.Composite([
  upstream,
  t.Object({
    status: t.Nullable(t.Integer({ description: "HTTP status of its list of models" })),
    fault: t.Nullable(t.String({ description: "Code of the network error" })),
  }),
]);
export const path = t.Object({ name: id });
export const keyPath = t.Object({ name: id, label: id });
export const forced = t.Object({ state: oneOf(["open", "closed"]) });
