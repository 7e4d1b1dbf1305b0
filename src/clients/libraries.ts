import type { Client, ClientFacts } from "./client.ts";
import { KEY_VARIABLE, quoteForShell, withSecret } from "./shell.ts";

const HELLO = "Hello, Tollgate!";
const PYTHON_KEY = `os.environ["${KEY_VARIABLE}"]`;
/** A variable of the customer's program, which this program only prints. */
const SCRIPT_KEY = `process.env.${KEY_VARIABLE}`;

const CURL: Client = {
  id: "curl",
  title: "curl",
  note: "In a shell.",
  print(facts) {
    const messages = [{ role: "user", content: HELLO }];
    const body = JSON.stringify({ model: facts.models[0].id, messages });
    return withSecret(
      facts,
      `curl ${facts.url}/v1/chat/completions \\
  -H "authorization: Bearer $${KEY_VARIABLE}" \\
  -H "content-type: application/json" \\
  -d ${quoteForShell(body)}`,
    );
  },
};

const OPENAI_PYTHON: Client = {
  id: "openai-python",
  title: "OpenAI · Python",
  note: "pip install openai",
  print: ({ url, models: [{ id }] }) => `import os
from openai import OpenAI

client = OpenAI(base_url="${url}/v1", api_key=${PYTHON_KEY})
answer = client.chat.completions.create(
    model=${JSON.stringify(id)},
    messages=[{"role": "user", "content": "${HELLO}"}],
)
print(answer.choices[0].message.content)`,
};

const OPENAI_JS: Client = {
  id: "openai-js",
  title: "OpenAI · JS",
  note: "npm install openai",
  print: printOpenai,
};

function printOpenai({ url, models: [{ id }] }: ClientFacts): string {
  return `import OpenAI from "openai";

const client = new OpenAI({ baseURL: "${url}/v1", apiKey: ${SCRIPT_KEY} });
const answer = await client.chat.completions.create({
  model: ${JSON.stringify(id)},
  messages: [{ role: "user", content: "${HELLO}" }],
});
console.log(answer.choices[0].message.content);`;
}

const ANTHROPIC_PYTHON: Client = {
  id: "anthropic-python",
  title: "Anthropic · Python",
  note: "pip install anthropic",
  print: ({ url, models: [{ id }] }) => `import os
from anthropic import Anthropic

client = Anthropic(base_url="${url}", api_key=${PYTHON_KEY})
answer = client.messages.create(
    model=${JSON.stringify(id)},
    max_tokens=1024,
    messages=[{"role": "user", "content": "${HELLO}"}],
)
print(answer.content)`,
};

const ANTHROPIC_JS: Client = {
  id: "anthropic-js",
  title: "Anthropic · JS",
  note: "npm install @anthropic-ai/sdk",
  print: printAnthropic,
};

function printAnthropic({ url, models: [{ id }] }: ClientFacts): string {
  return `import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic({ baseURL: "${url}", apiKey: ${SCRIPT_KEY} });
const answer = await client.messages.create({
  model: ${JSON.stringify(id)},
  max_tokens: 1024,
  messages: [{ role: "user", content: "${HELLO}" }],
});
console.log(answer.content);`;
}

const GOOGLE_PYTHON: Client = {
  id: "google-python",
  title: "Google · Python",
  note: "pip install google-genai",
  print: ({ url, models: [{ id }] }) => `import os
from google import genai
from google.genai import types

client = genai.Client(
    api_key=${PYTHON_KEY},
    http_options=types.HttpOptions(base_url="${url}"),
)
answer = client.models.generate_content(
    model=${JSON.stringify(id)},
    contents="${HELLO}",
)
print(answer.text)`,
};

const GOOGLE_JS: Client = {
  id: "google-js",
  title: "Google · JS",
  note: "npm install @google/genai",
  print: printGoogle,
};

function printGoogle({ url, models: [{ id }] }: ClientFacts): string {
  return `import { GoogleGenAI } from "@google/genai";

const client = new GoogleGenAI({
  apiKey: ${SCRIPT_KEY},
  httpOptions: { baseUrl: "${url}" },
});
const answer = await client.models.generateContent({
  model: ${JSON.stringify(id)},
  contents: "${HELLO}",
});
console.log(answer.text);`;
}

/** curl and the libraries, which call any model that answers chats. */
export const LIBRARIES: readonly Client[] = [
  CURL,
  OPENAI_PYTHON,
  OPENAI_JS,
  ANTHROPIC_PYTHON,
  ANTHROPIC_JS,
  GOOGLE_PYTHON,
  GOOGLE_JS,
];
