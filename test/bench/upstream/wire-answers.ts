import { STREAM_FRAMES, WHOLE_BODY } from "../answers.ts";

/** Model names that make the upstream fail. Any other model is answered. */
export const MODELS = {
  unavailable: { always: "bench-503", tenth: "bench-503-1-in-10" },
  reset: { always: "bench-reset", tenth: "bench-reset-1-in-10" },
} as const;

/** Milliseconds between the events of a stream. */
export const EVENT_MS = 20;
const TEXT_EVENTS = 60;
/** A finish, usage and the end marker. */
const ENDING = 3;

/** The frames of a stream of 1.2 s. */
const PACED_FRAMES: readonly string[] = [
  ...STREAM_FRAMES.slice(0, TEXT_EVENTS),
  ...STREAM_FRAMES.slice(-ENDING),
];
export const PACED_TEXT = PACED_FRAMES.join("");

export const WHOLE_ANSWER = Buffer.from(
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(WHOLE_BODY)}\r\n\r\n${WHOLE_BODY}`,
);
export const UNAVAILABLE_ANSWER = Buffer.from(
  "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}",
);

/** The writes of a stream, one per event. The first has the head, the last the end of the body. */
export const STREAM_PIECES: readonly Buffer[] = PACED_FRAMES.map((frame, index) => {
  const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
  const isLast = index === PACED_FRAMES.length - 1;
  const chunk = `${Buffer.byteLength(frame).toString(16)}\r\n${frame}\r\n`;
  return Buffer.from(`${index === 0 ? head : ""}${chunk}${isLast ? "0\r\n\r\n" : ""}`);
});

/** Least duration of a stream in milliseconds. */
export const STREAM_MS = (PACED_FRAMES.length - 1) * EVENT_MS;
