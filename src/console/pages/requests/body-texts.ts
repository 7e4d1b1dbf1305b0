import type { RecordingContent } from "../../queries/recordings.ts";

/** The formats whose messages the playground reads. */
const PLAYABLE = ["chat", "messages"];

/** Whether the playground can go on with the messages of a body. */
export function canOpenInPlayground({ surface, request }: RecordingContent): boolean {
  return PLAYABLE.includes(surface) && !request.is_cut;
}
