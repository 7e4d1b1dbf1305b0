import { printSse } from "../../sse.ts";
import { UpstreamFault } from "../../upstream-fault.ts";

/** A content block to be printed. */
export interface Block {
  readonly kind: "text" | "refusal" | "reasoning" | "redacted_reasoning" | "tool_call";
  /** JSON of `content_block`, as the block starts. */
  readonly start: string;
  /** Whether all deltas of the block have arrived, as far as this can be known. */
  isComplete(): boolean;
}

interface QueuedBlock {
  readonly block: Block;
  /** JSON of deltas that arrived before the block was started. */
  heldDeltas: string[];
}

/**
 * Prints blocks strictly one after another, numbered from 0. An incomplete block stays open, and the blocks
 * behind it wait until it is complete or the answer ends.
 *
 * @see https://docs.anthropic.com/en/api/messages
 */
export function createBlockQueue() {
  const queue: QueuedBlock[] = [];
  const indexes = new Map<Block, number>();
  /** Index of the block that is being printed; -1 before the first. */
  let open = -1;

  const stopOpen = (): string => (open < 0 ? "" : printIndexed("content_block_stop", open, ""));

  const startNext = (): string => {
    open += 1;
    const next = queue[open];
    if (!next) return "";
    const started = printIndexed("content_block_start", open, `,"content_block":${next.block.start}`);
    const deltas = next.heldDeltas.map((delta) => printDelta(open, delta));
    next.heldDeltas = [];
    return started + deltas.join("");
  };

  const advance = (isEnd: boolean): string => {
    let text = "";
    while (open < queue.length - 1 && (isEnd || (queue[open]?.block.isComplete() ?? true))) {
      text += stopOpen() + startNext();
    }
    return text;
  };

  return {
    /** Adds a block. Returns the events that may be sent now, "" while the block waits. */
    begin(block: Block): string {
      indexes.set(block, queue.length);
      queue.push({ block, heldDeltas: [] });
      return advance(false);
    },

    /**
     * Adds a delta in JSON. Returns the events that may be sent now. Throws {@link UpstreamFault} for a
     * stopped block.
     */
    add(block: Block, delta: string): string {
      const index = indexes.get(block) ?? -1;
      if (index < open) throw new UpstreamFault("A tool call continues after its end");
      if (index === open) return printDelta(open, delta) + advance(false);
      queue[index]?.heldDeltas.push(delta);
      return "";
    },

    /** Returns the events of all waiting blocks, up to the stop of the last. */
    end(): string {
      return advance(true) + stopOpen();
    },
  };
}

function printDelta(index: number, delta: string): string {
  return printIndexed("content_block_delta", index, `,"delta":${delta}`);
}

function printIndexed(event: string, index: number, members: string): string {
  return printSse({ event, data: `{"type":"${event}","index":${index}${members}}` });
}
