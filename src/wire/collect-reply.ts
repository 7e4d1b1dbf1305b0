import type {
  ChatEvent,
  ChatReply,
  FinishEvent,
  OutputEvent,
  ReplyBlock,
  ToolCallEvent,
  UsageEvent,
} from "../domain/chat-event.ts";
import { UpstreamFault } from "./protocol.ts";

/** Puts the events of a whole answer together. Throws {@link UpstreamFault} when it never finished. */
export function collectReply(events: readonly ChatEvent[]): ChatReply {
  const collected = createBlocks();
  let finish: FinishEvent | undefined;
  let usage: UsageEvent | undefined;
  for (const event of events) {
    if (event.kind === "finish") finish = event;
    else if (event.kind === "usage") usage = event;
    else if (event.kind !== "began") collected.add(event);
  }
  if (!finish) throw new UpstreamFault("The answer has no finish");
  return { blocks: collected.blocks, finish, usage };
}

type Growing<Block> = Block extends unknown ? { -readonly [Key in keyof Block]: Block[Key] } : never;
type CallBlock = Growing<Extract<ReplyBlock, { kind: "tool_call" }>>;

function createBlocks() {
  const blocks: Growing<ReplyBlock>[] = [];
  const calls: CallBlock[] = [];

  const addText = (kind: "text" | "refusal", text: string): void => {
    const last = blocks.at(-1);
    if (last?.kind === kind) last.text += text;
    else if (text !== "") blocks.push({ kind, text });
  };

  /** A sealed piece is complete: what is reasoned after it is another. */
  const addReasoning = (text: string, signature?: string): void => {
    const last = blocks.at(-1);
    if (last?.kind === "reasoning" && last.signature === undefined) {
      last.text += text;
      last.signature = signature;
    } else blocks.push({ kind: "reasoning", text, signature });
  };

  const beginCall = ({ call, id, name }: ToolCallEvent): void => {
    const block: CallBlock = { kind: "tool_call", id, name, input: "" };
    calls[call] = block;
    blocks.push(block);
  };

  const add = (event: OutputEvent): void => {
    if (event.kind === "text" || event.kind === "refusal") addText(event.kind, event.text);
    else if (event.kind === "reasoning") addReasoning(event.text);
    else if (event.kind === "reasoning_seal") addReasoning("", event.signature);
    else if (event.kind === "redacted_reasoning") blocks.push({ kind: event.kind, data: event.data });
    else if (event.kind === "tool_call") beginCall(event);
    else {
      const call = calls[event.call];
      if (call) call.input += event.json;
    }
  };

  return { blocks: blocks as readonly ReplyBlock[], add };
}
