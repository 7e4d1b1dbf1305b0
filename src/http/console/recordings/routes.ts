import { Elysia, t } from "elysia";
import type { Account } from "../../../accounts/accounts.ts";
import { type Actor, recordChange } from "../../../accounts/audit-trail.ts";
import { findKey } from "../../../accounts/keys/keys.ts";
import { printTime } from "../../../domain/id-time.ts";
import { GatewayError } from "../../../errors.ts";
import { findRecording, openRecording } from "../../../recordings/open-recording.ts";
import type { RecordingContent } from "../../../recordings/recording.ts";
import { dropRecording, type StoredRecording } from "../../../recordings/store.ts";
import { createGuard } from "../guard.ts";
import { requireOwn } from "../keys/edits.ts";
import { accountParams } from "../keys/shapes.ts";
import { id } from "../shapes.ts";
import { printConversation } from "./conversation.ts";
import { keyRecordingRoutes, type RecordingParts } from "./key-routes.ts";
import { deletedRecordings, openedRecording, requestRecording } from "./shapes.ts";

const requestParams = t.Object({ ...accountParams.properties, id });

/** The bodies of requests: how keys keep them, and what is kept. */
export function recordingsRoutes(parts: RecordingParts) {
  return new Elysia().use(keyRecordingRoutes(parts)).use(requestRecordingRoutes(parts));
}

function requestRecordingRoutes(parts: RecordingParts) {
  return new Elysia()
    .use(createGuard(parts, "Recordings"))
    .get(
      "/accounts/:account/requests/:id/recording",
      async ({ account, params }) => printStored(await requireRecording(parts, account, params.id)),
      {
        summary: "Read whether the bodies of a request are kept, and until when",
        needs: "recordings.read",
        params: requestParams,
        response: requestRecording,
      },
    )
    .post(
      "/accounts/:account/requests/:id/recording/open",
      async ({ account, params, actor }) => open(parts, actor, account, params.id),
      {
        summary: "Read the bodies of a request; the audit trail says who did",
        needs: "recordings.read",
        params: requestParams,
        response: openedRecording,
      },
    )
    .delete(
      "/accounts/:account/requests/:id/recording",
      async ({ account, params, actor, role }) => {
        const stored = await requireRecording(parts, account, params.id);
        const key = await findKey(parts.database, { accountId: account.id, keyId: stored.keyId });
        if (key) requireOwn(key, { actor, role });
        else if (role !== "owner") throw new GatewayError("not_permitted");
        return { deleted: await deleteOne(parts, actor, stored) };
      },
      {
        summary: "Delete the bodies of a request",
        needs: "recordings.write",
        params: requestParams,
        response: deletedRecordings,
      },
    );
}

/** Throws `unknown_item` for a request without a recording, and for one whose time is over. */
async function requireRecording(
  { database, now }: RecordingParts,
  { id: accountId }: Account,
  request: string,
): Promise<StoredRecording> {
  const requestId = request.toLowerCase();
  const stored = await findRecording(database, { accountId, requestId, nowMs: now() });
  if (!stored) throw new GatewayError("unknown_item");
  return stored;
}

function printStored({ keyId, createdAtMs, expiresAtMs }: StoredRecording): typeof requestRecording.static {
  return { key_id: keyId, recorded_at: printTime(createdAtMs), expires_at: printTime(expiresAtMs) };
}

async function open(
  parts: RecordingParts,
  actor: Actor,
  account: Account,
  request: string,
): Promise<typeof openedRecording.static> {
  const { database, recordingKeys, now } = parts;
  const stored = await requireRecording(parts, account, request);
  const key = await findKey(database, { accountId: account.id, keyId: stored.keyId });
  // The entry comes first: no reading is without one.
  await database.transact((tx) => {
    const change = { accountId: account.id, action: "recording.read", target: stored.requestId };
    return recordChange(database, tx, actor, change, now());
  });
  const content = openRecording(recordingKeys(), { ...stored, salt: key?.recording?.salt });
  return { ...printStored(stored), content: content ? printContent(content) : null };
}

function printContent(content: RecordingContent) {
  const { surface, outcome, request, answer, redacted } = content;
  const print = ({ text, length, isCut }: RecordingContent["request"]) => ({ text, length, is_cut: isCut });
  const conversation = printConversation(content);
  const bodies = { request: print(request), answer: answer ? print(answer) : null };
  return { surface, outcome, redacted, ...bodies, conversation };
}

async function deleteOne(
  { database, now }: RecordingParts,
  actor: Actor,
  { accountId, requestId }: StoredRecording,
): Promise<number> {
  return database.transact(async (tx) => {
    if (!(await dropRecording(database, tx, { accountId, requestId }))) return 0;
    const change = { accountId, action: "recording.deleted", target: requestId };
    await recordChange(database, tx, actor, change, now());
    return 1;
  });
}
