import { printSse } from "../../sse.ts";
import { UpstreamFault } from "../../upstream-fault.ts";

/** A block on its way out. */
export interface Block {
  readonly kind: "text" | "refusal" | "reasoning" | "redacted_reasoning" | "tool_call";
  /** JSON of the block as it starts. */
  readonly start: string;
  /** Whether all of it has come, as far as one can tell. */
  isComplete(): boolean;
}

/** A block and what became of it. */
interface Place {
  readonly block: Block;
  /** JSON of deltas that came before its turn. */
  held: string[];
}

/**
 * Prints blocks strictly one after the other, from index 0. One that is not complete stays open: what begins
 * meanwhile waits for it, at the longest until the end.
 */
export function createBlockLine() {
  const places: Place[] = [];
  const indexes = new Map<Block, number>();
  let open = -1;

  const close = (): string => (open < 0 ? "" : printIndexed("content_block_stop", open, ""));

  const show = (): string => {
    open += 1;
    const place = places[open];
    if (!place) return "";
    const started = printIndexed("content_block_start", open, `,"content_block":${place.block.start}`);
    const deltas = place.held.map((delta) => printDelta(open, delta));
    place.held = [];
    return started + deltas.join("");
  };

  const advance = (isEnd: boolean): string => {
    let text = "";
    while (open < places.length - 1 && (isEnd || (places[open]?.block.isComplete() ?? true))) {
      text += close() + show();
    }
    return text;
  };

  return {
    /** What the client sees of a new block, maybe with others before it; "" while it waits. */
    begin(block: Block): string {
      indexes.set(block, places.length);
      places.push({ block, held: [] });
      return advance(false);
    },

    /** The same of a delta, in JSON. Throws {@link UpstreamFault} for a block that is over. */
    add(block: Block, delta: string): string {
      const index = indexes.get(block) ?? -1;
      if (index < open) throw new UpstreamFault("A tool call goes on behind its end");
      if (index === open) return printDelta(open, delta) + advance(false);
      places[index]?.held.push(delta);
      return "";
    },

    /** Everything that waited, up to the end of the last block. */
    end(): string {
      return advance(true) + close();
    },
  };
}

function printDelta(index: number, delta: string): string {
  return printIndexed("content_block_delta", index, `,"delta":${delta}`);
}

function printIndexed(event: string, index: number, members: string): string {
  return printSse({ event, data: `{"type":"${event}","index":${index}${members}}` });
}
