import type { RecordingContent } from "../../queries/recordings.ts";

/** JSON in lines; a text that was cut stays as it is. */
export function printPretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}

/** The formats whose messages the playground reads. */
const PLAYABLE = ["chat", "messages"];

/** Whether the playground can go on with the messages of a body. */
export function canOpenInPlayground({ surface, request }: RecordingContent): boolean {
  return PLAYABLE.includes(surface) && !request.is_cut;
}
