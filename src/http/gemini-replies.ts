import { asArrayFormat, printElements } from "../wire/google-gemini/array-stream.ts";
import { type EmbedMethod, printEmbedAnswer } from "../wire/google-gemini/embeddings.ts";
import { googleGemini } from "../wire/google-gemini/format.ts";
import { createReply, type HttpReply, type ReplyOptions } from "./reply.ts";

const ARRAY_FORMAT = asArrayFormat(googleGemini);

/** Creates the reply of a stream that is one JSON array instead of events. */
export function createArrayReply(options: ReplyOptions): HttpReply {
  const reply = createReply({ ...options, wire: ARRAY_FORMAT, streamType: "application/json" });
  let isFirst = true;
  const print = (events: string): string => {
    const elements = printElements(events, isFirst);
    if (elements !== "") isFirst = false;
    return elements;
  };
  return withOutput(reply, {
    write: (events) => reply.write(print(events)),
    end(events) {
      const elements = print(events);
      reply.end(isFirst ? "[]" : `${elements}]`);
    },
  });
}

/** Creates the reply with embeddings, whose answer comes in OpenAI's form. Its errors are in Google's envelope. */
export function createEmbedReply(options: ReplyOptions, method: EmbedMethod): HttpReply {
  const reply = createReply({ ...options, wire: googleGemini });
  return withOutput(reply, {
    write: (text) => reply.write(text),
    // The end of a request whose client is gone has no answer.
    end: (text) => reply.end(text === "" ? text : printEmbedAnswer(text, method)),
  });
}

/** Returns a reply whose output is printed in another way. */
function withOutput(reply: HttpReply, output: Pick<HttpReply, "write" | "end">): HttpReply {
  return {
    signal: reply.signal,
    response: reply.response,
    get status() {
      return reply.status;
    },
    setHeaders: (headers) => reply.setHeaders(headers),
    expectStream: (model) => reply.expectStream(model),
    beginStream: () => reply.beginStream(),
    fail: (thrown) => reply.fail(thrown),
    ...output,
  };
}
