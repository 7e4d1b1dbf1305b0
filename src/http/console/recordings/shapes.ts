import { t } from "elysia";
import {
  EXPRESSION_CHARS_MAX,
  EXPRESSIONS_MAX,
  PATTERN_NAMES,
  RECORDING_DAYS_MAX,
} from "../../../domain/recording-rules.ts";
import { oneOf, time } from "../shapes.ts";

const HOURS_MAX = RECORDING_DAYS_MAX * 24;
const count = t.Integer({ minimum: 0 });
const pattern = oneOf(PATTERN_NAMES);

const rules = {
  until: t.Nullable(time, { description: "when the key stops recording; at most 7 days from now" }),
  kept_hours: t.Integer({ minimum: 1, maximum: HOURS_MAX, description: "how long each recording is kept" }),
  keeps_media: t.Boolean({ description: "false: images and files are replaced by their type and length" }),
  patterns: t.Array(pattern, { maxItems: 3, description: "patterns that are redacted" }),
  expressions: t.Array(t.String({ minLength: 1, maxLength: EXPRESSION_CHARS_MAX }), {
    maxItems: EXPRESSIONS_MAX,
    description: "further expressions that are redacted, in the syntax of RE2",
  }),
};

/** How a key records from now on; `until` null for no longer. */
export const recordingBody = t.Object({ version: t.Integer({ minimum: 1 }), ...rules });

/** How a key records, and what it has kept. */
export const keyRecording = t.Object({
  ...rules,
  version: t.Integer({ description: "that of the key" }),
  is_on: t.Boolean(),
  is_available: t.Boolean({ description: "whether the operator has set up RECORDING_KEYS" }),
  count,
  bytes: count,
});

export const requestRecording = t.Object({
  key_id: t.String(),
  recorded_at: time,
  expires_at: time,
});

const keptBody = t.Object({
  text: t.String(),
  length: t.Integer({ description: "as sent: bytes of a request, characters of an answer" }),
  is_cut: t.Boolean(),
});

export const openedRecording = t.Object({
  ...requestRecording.properties,
  content: t.Nullable(
    t.Object({
      surface: t.String(),
      outcome: t.String(),
      request: keptBody,
      answer: t.Nullable(keptBody, { description: "null for a stream that cannot be put together" }),
      redacted: count,
      conversation: t.Nullable(t.String(), {
        description:
          "the request in the form of a chat completion; null for one that is no conversation by itself",
      }),
    }),
    { description: "null when no key of the operator decrypts it" },
  ),
});

export const deletedRecordings = t.Object({ deleted: count });
