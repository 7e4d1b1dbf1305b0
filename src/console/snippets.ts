/** What a snippet is made for. */
export interface SnippetFacts {
  /** Where clients reach the gateway, without a path. */
  readonly url: string;
  readonly model: string;
  /** Known only right after the creation. */
  readonly secret?: string | undefined;
}

export interface Snippet {
  readonly id: string;
  readonly title: string;
  /** Where the code goes. */
  readonly note: string;
  readonly code: string;
}

const HELLO = "Hello, Tollgate!";

/** Ready-made code for every client, with the gateway's true address. The secret stands in shell lines only. */
export function printSnippets(facts: SnippetFacts): readonly Snippet[] {
  return [
    { id: "curl", title: "curl", note: "In a shell.", code: printCurl(facts) },
    { id: "python", title: "OpenAI · Python", note: "pip install openai", code: printPython(facts) },
    { id: "openai", title: "OpenAI · JS", note: "npm install openai", code: printOpenai(facts) },
    {
      id: "anthropic",
      title: "Anthropic · JS",
      note: "npm install @anthropic-ai/sdk",
      code: printAnthropic(facts),
    },
    {
      id: "claude-code",
      title: "Claude Code",
      note: "In the shell that starts Claude Code.",
      code: printClaudeCode(facts),
    },
    { id: "codex", title: "Codex", note: "In ~/.codex/config.toml.", code: printCodex(facts) },
    { id: "opencode", title: "opencode", note: "In opencode.json.", code: printOpencode(facts) },
  ];
}

/** The line that gives the secret to a shell; `undefined` while the secret is unknown. */
function printExport({ secret }: SnippetFacts): string | undefined {
  return secret === undefined ? undefined : `export TOLLGATE_KEY=${secret}`;
}

/** Quotes a text for a shell. */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function withExport(facts: SnippetFacts, code: string): string {
  const line = printExport(facts);
  return line === undefined ? code : `${line}\n${code}`;
}

function printCurl(facts: SnippetFacts): string {
  const body = JSON.stringify({ model: facts.model, messages: [{ role: "user", content: HELLO }] });
  return withExport(
    facts,
    `curl ${facts.url}/v1/chat/completions \\
  -H "authorization: Bearer $TOLLGATE_KEY" \\
  -H "content-type: application/json" \\
  -d ${quoteForShell(body)}`,
  );
}

function printPython({ url, model }: SnippetFacts): string {
  return `import os
from openai import OpenAI

client = OpenAI(base_url="${url}/v1", api_key=os.environ["TOLLGATE_KEY"])
answer = client.chat.completions.create(
    model=${JSON.stringify(model)},
    messages=[{"role": "user", "content": "${HELLO}"}],
)
print(answer.choices[0].message.content)`;
}

function printOpenai({ url, model }: SnippetFacts): string {
  return `import OpenAI from "openai";

const client = new OpenAI({ baseURL: "${url}/v1", apiKey: process.env.TOLLGATE_KEY });
const answer = await client.chat.completions.create({
  model: ${JSON.stringify(model)},
  messages: [{ role: "user", content: "${HELLO}" }],
});
console.log(answer.choices[0].message.content);`;
}

function printAnthropic({ url, model }: SnippetFacts): string {
  return `import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic({ baseURL: "${url}", apiKey: process.env.TOLLGATE_KEY });
const answer = await client.messages.create({
  model: ${JSON.stringify(model)},
  max_tokens: 1024,
  messages: [{ role: "user", content: "${HELLO}" }],
});
console.log(answer.content);`;
}

function printClaudeCode(facts: SnippetFacts): string {
  const model = quoteForShell(facts.model);
  return withExport(
    facts,
    `export ANTHROPIC_BASE_URL=${facts.url}
export ANTHROPIC_AUTH_TOKEN=$TOLLGATE_KEY
export ANTHROPIC_MODEL=${model} ANTHROPIC_DEFAULT_HAIKU_MODEL=${model}
claude`,
  );
}

function printCodex({ url, model }: SnippetFacts): string {
  return `model = ${JSON.stringify(model)}
model_provider = "tollgate"

[model_providers.tollgate]
name = "Tollgate"
base_url = "${url}/v1"
env_key = "TOLLGATE_KEY"
wire_api = "responses"`;
}

function printOpencode({ url, model }: SnippetFacts): string {
  const config = {
    model: `tollgate/${model}`,
    provider: {
      tollgate: {
        npm: "@ai-sdk/openai-compatible",
        options: { baseURL: `${url}/v1`, apiKey: "{env:TOLLGATE_KEY}" },
        models: { [model]: {} },
      },
    },
  };
  return JSON.stringify(config, null, 2);
}
