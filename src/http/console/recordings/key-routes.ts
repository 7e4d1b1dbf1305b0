import { Elysia, type Static, status } from "elysia";
import type { Account } from "../../../accounts/accounts.ts";
import type { ApiKey } from "../../../accounts/keys/key.ts";
import {
  deleteKeyRecordings,
  setRecording,
  type WantedRecording,
} from "../../../accounts/keys/key-recording.ts";
import { DAY_MS, HOUR_MS, printTime } from "../../../domain/id-time.ts";
import { isAhead, PATTERN_NAMES, RECORDING_DAYS_MAX } from "../../../domain/recording-rules.ts";
import { GatewayError } from "../../../errors.ts";
import { countRecordings } from "../../../recordings/open-recording.ts";
import { readMs } from "../../../usage/view.ts";
import type { ConsoleParts } from "../console-parts.ts";
import { describeConflict } from "../errors.ts";
import { createGuard } from "../guard.ts";
import { type KeyParts, requireKey, requireOwn, wrongShape } from "../keys/edits.ts";
import { keyParams } from "../keys/shapes.ts";
import { conflictWith } from "../shapes.ts";
import { deletedRecordings, keyRecording, recordingBody } from "./shapes.ts";

export type RecordingParts = KeyParts & Pick<ConsoleParts, "recordingKeys">;
type KeyRecordingView = typeof keyRecording.static;

/** How keys record, and what they have kept. Developers change the keys that they created. */
export function keyRecordingRoutes(parts: RecordingParts) {
  return new Elysia()
    .use(createGuard(parts, "Recordings"))
    .get(
      "/accounts/:account/keys/:key/recording",
      async ({ account, params }) => viewOfKey(parts, await requireKey(parts, account, params.key)),
      {
        summary: "Read whether a key records bodies, and how much is kept",
        needs: "keys.read",
        params: keyParams,
        response: keyRecording,
      },
    )
    .put(
      "/accounts/:account/keys/:key/recording",
      async ({ account, params, actor, role, body }) => {
        const key = await requireKey(parts, account, params.key);
        requireOwn(key, { actor, role });
        const wanted = await readWanted(parts, body);
        return orConflict(parts, account, key.id, async () =>
          viewOfKey(
            parts,
            await setRecording({ ...parts, actor }, { ...key, version: body.version }, wanted),
          ),
        );
      },
      {
        summary: "Have the bodies of a key's requests kept for a time, or no longer",
        needs: "recordings.write",
        params: keyParams,
        body: recordingBody,
        response: { 200: keyRecording, 409: conflictWith(keyRecording) },
      },
    )
    .delete(
      "/accounts/:account/keys/:key/recordings",
      async ({ account, params, actor, role }) => {
        const key = await requireKey(parts, account, params.key);
        requireOwn(key, { actor, role });
        return { deleted: await deleteKeyRecordings({ ...parts, actor }, key) };
      },
      {
        summary: "Delete all recordings of a key",
        needs: "recordings.write",
        params: keyParams,
        response: deletedRecordings,
      },
    );
}

/** Shows how a key records. A key that never did shows what a form may begin with. */
async function viewOfKey(
  { database, recordingKeys, now }: RecordingParts,
  { id: keyId, accountId, recording, revokedAtMs, version }: ApiKey,
): Promise<KeyRecordingView> {
  const nowMs = now();
  const isOn = recording !== undefined && revokedAtMs === undefined && isAhead(recording.untilMs, nowMs);
  return {
    version,
    is_on: isOn,
    is_available: recordingKeys().length > 0,
    until: isOn ? printTime(recording.untilMs) : null,
    kept_hours: recording ? Math.round(recording.keptMs / HOUR_MS) : 24,
    keeps_media: recording?.keepsMedia ?? false,
    patterns: [...(recording?.patterns ?? PATTERN_NAMES)],
    expressions: [...(recording?.expressions ?? [])],
    ...(await countRecordings(database, { accountId, keyId, nowMs })),
  };
}

/** Reads how a key is to record; `undefined` for no longer. Throws `wrong_shape`, and `not_built` without a key. */
async function readWanted(
  { recordingKeys, now }: RecordingParts,
  body: Static<typeof recordingBody>,
): Promise<WantedRecording | undefined> {
  if (body.until === null) return undefined;
  if (recordingKeys().length === 0) {
    throw new GatewayError("not_built", {
      message: "This gateway keeps no bodies: its operator has not set RECORDING_KEYS.",
    });
  }
  const untilMs = readMs(body.until, "until") as number;
  const leftMs = untilMs - now();
  if (leftMs <= 0 || leftMs > RECORDING_DAYS_MAX * DAY_MS) throw wrongShape("until");
  // Loaded here alone: few keys ever have an expression.
  const { isExpression } = await import("../../../recordings/expressions.ts");
  const wrong = body.expressions.findIndex((each) => !isExpression(each));
  if (wrong >= 0) throw wrongShape(`expressions[${wrong}]`);
  const { kept_hours, keeps_media: keepsMedia, patterns, expressions } = body;
  const named = PATTERN_NAMES.filter((name) => patterns.includes(name));
  return { untilMs, keptMs: kept_hours * HOUR_MS, keepsMedia, patterns: named, expressions };
}

async function orConflict(
  parts: RecordingParts,
  account: Account,
  keyId: string,
  edit: () => Promise<KeyRecordingView>,
) {
  try {
    return await edit();
  } catch (fault) {
    if (!(fault instanceof GatewayError) || fault.kind !== "conflict") throw fault;
    const current = await viewOfKey(parts, await requireKey(parts, account, keyId));
    return status(409, { error: describeConflict(), current });
  }
}
