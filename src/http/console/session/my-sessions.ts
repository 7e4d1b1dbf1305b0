import { Elysia, t } from "elysia";
import { endSession, endSessions, listSessions, type Session } from "../../../accounts/people/sessions.ts";
import { GatewayError } from "../../../errors.ts";
import { printTime } from "../../../time.ts";
import type { ConsoleParts } from "../console-parts.ts";
import { createGuard } from "../guard.ts";
import { sessionShape } from "../person-shapes.ts";
import { id, nothing } from "../shapes.ts";
import { requireSession } from "./me.ts";

/** Routes of a signed-in person about its sessions. */
export function mySessionsRoutes(parts: ConsoleParts) {
  const { database, now } = parts;
  return new Elysia()
    .use(createGuard(parts))
    .get(
      "/me/sessions",
      async ({ actor }) => {
        const { id: currentId } = requireSession(actor);
        const sessions = await listSessions(database, actor.id, now());
        return { items: sessions.map((session) => printSession(session, currentId)) };
      },
      { needsSession: true, response: t.Object({ items: t.Array(sessionShape) }) },
    )
    .delete(
      "/me/sessions/:session",
      async ({ actor, params }) => {
        requireSession(actor);
        const wanted = { actor, personId: actor.id, sessionId: params.session };
        if (!(await endSession(database, wanted, now()))) throw new GatewayError("unknown_item");
        return {};
      },
      { needsSession: true, params: t.Object({ session: id }), response: nothing },
    )
    .post(
      "/me/sessions/end-others",
      async ({ actor }) => {
        const { id: keptId } = requireSession(actor);
        return { ended: await endSessions(database, { actor, personId: actor.id, keptId }, now()) };
      },
      { needsSession: true, response: t.Object({ ended: t.Integer() }) },
    );
}

function printSession(session: Session, currentId: string) {
  return {
    id: session.id,
    address: session.address ?? null,
    agent: session.agent ?? null,
    created_at: printTime(session.createdAtMs),
    last_seen_at: printTime(session.lastSeenAtMs),
    expires_at: printTime(session.expiresAtMs),
    current: session.id === currentId,
  };
}
