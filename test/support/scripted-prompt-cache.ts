import { answer, type Script, type ScriptRequest } from "./script.ts";
import { EVENT_STREAM, frame, messagesWhole, streamedLines } from "./scripted-answers.ts";
import { isObject, type Json, listAt, objectAt } from "./strict-json.ts";

/** Sums over all requests that a scripted prompt cache has answered. */
interface CacheSums {
  readonly requests: number;
  readonly inputTokens: number;
  readonly readTokens: number;
  readonly writtenTokens: number;
}

/** A model of Anthropic's prompt cache, as a script for messages requests. */
export interface ScriptedPromptCache {
  readonly script: Script;
  sums(): CacheSums;
}

const MARKS_MAX = 4;
/** Blocks before a mark among which the provider searches for an earlier entry. */
const LOOK_BACK = 20;
const TOKENS_MIN = 1_024;

/**
 * Caches prompt prefixes at marks and reports usage by it. A prefix is read when an earlier request wrote it at
 * most 20 blocks before a mark. Answers 400 to more than four marks and to marks on empty texts.
 * @see https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching
 */
export function createScriptedPromptCache(): ScriptedPromptCache {
  const written = new Set<string>();
  const sums = { requests: 0, inputTokens: 0, readTokens: 0, writtenTokens: 0 };

  const read = (request: ScriptRequest) => {
    const blocks = blocksOf(objectAt(JSON.parse(request.bodyText), "the body"));
    const marks = blocks.flatMap(({ isMarked }, at) => (isMarked ? [at] : []));
    if (marks.length > MARKS_MAX || marks.some((at) => blocks[at]?.tokens === 0)) return undefined;
    const hit = Math.max(-1, ...marks.map((mark) => findEntry(blocks, mark, written)));
    const end = marks.findLast((mark) => tokensUpTo(blocks, mark) >= TOKENS_MIN) ?? hit;
    for (const mark of marks) if (tokensUpTo(blocks, mark) >= TOKENS_MIN) written.add(prefixOf(blocks, mark));
    const cached = tokensUpTo(blocks, hit);
    const creation = Math.max(0, tokensUpTo(blocks, end) - cached);
    const total = tokensUpTo(blocks, blocks.length - 1);
    sums.requests += 1;
    sums.inputTokens += total;
    sums.readTokens += cached;
    sums.writtenTokens += creation;
    return {
      input_tokens: total - cached - creation,
      cache_creation_input_tokens: creation,
      cache_read_input_tokens: cached,
    };
  };

  return {
    sums: () => ({ ...sums }),
    script: (request) => {
      const usage = read(request);
      if (usage === undefined) return answer({ status: 400, body: '{"type":"error","error":{}}' })(request);
      return answer(answerTo(request, { ...usage, output_tokens: 20 }))(request);
    },
  };
}

function answerTo(request: ScriptRequest, usage: object) {
  const output = { text: "Noted.", usage: { input: 0, output: 20 } };
  if (!request.stream) return { body: JSON.stringify({ ...messagesWhole(output), usage }) };
  const lines = streamedLines(request, output).map((line) =>
    JSON.stringify(withUsage(JSON.parse(line), usage)),
  );
  return { headers: EVENT_STREAM, body: frame("anthropic", lines) };
}

/** Replaces the usage of an event, in the message of its start and beside the delta of its end. */
function withUsage(event: Json, usage: object): object {
  const { message, ...others } = objectAt(event, "an event");
  return {
    ...others,
    ...(isObject(message) && { message: { ...message, usage } }),
    ...("usage" in others && { usage }),
  };
}

interface Block {
  readonly text: string;
  readonly tokens: number;
  readonly isMarked: boolean;
}

/** The blocks of a prompt in the order in which it is cached. */
function blocksOf({ tools, system, messages }: Json): readonly Block[] {
  const ofMessages = listAt(messages).flatMap((each) => {
    const { role = "", content } = objectAt(each, "a message");
    return listAt(content).map((block) => blockOf(block, String(role)));
  });
  return [...listAt(tools), ...listAt(system)].map((each) => blockOf(each, "")).concat(ofMessages);
}

function blockOf(value: unknown, role: string): Block {
  const { cache_control: mark, ...content } = objectAt(value, "a block");
  const text = role + JSON.stringify(content);
  return { text, tokens: Math.ceil(text.length / 4), isMarked: mark !== undefined };
}

function prefixOf(blocks: readonly Block[], end: number): string {
  return Bun.hash(JSON.stringify(blocks.slice(0, end + 1).map(({ text }) => text))).toString();
}

function tokensUpTo(blocks: readonly Block[], end: number): number {
  return blocks.slice(0, end + 1).reduce((sum, { tokens }) => sum + tokens, 0);
}

function findEntry(blocks: readonly Block[], mark: number, written: ReadonlySet<string>): number {
  for (let at = mark; at >= Math.max(0, mark - LOOK_BACK); at--) {
    if (written.has(prefixOf(blocks, at))) return at;
  }
  return -1;
}
