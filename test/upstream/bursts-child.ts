import { createConnectionPools } from "../../src/upstream/bun-fetch.ts";
import { createHostPost, createHttpSender } from "../../src/upstream/http-upstream.ts";
import { callBodyOf, observerOf } from "../support/call-body.ts";
import { scriptedUpstream } from "../support/test-catalog.ts";

// Sends six bursts of concurrent calls to the upstream at a URL.
const [baseUrl = "", size = ""] = Bun.argv.slice(2);

let pools = 0;
const config = scriptedUpstream("up", "openai", { baseUrl });
const post = createHostPost(
  config,
  createConnectionPools(() => pools++),
);
const upstream = createHttpSender(config, post);

async function ask(): Promise<void> {
  let end = () => {};
  const call = {
    surface: "chat",
    path: "/",
    model: "m",
    body: callBodyOf("{}"),
    stream: false,
    headers: {},
    query: "",
  } as const;
  const { signal } = new AbortController();
  const answer = await upstream.send(
    call,
    observerOf(signal, (listener) => {
      end = listener;
    }),
  );
  await answer.text();
  end();
}

for (let burst = 0; burst < 6; burst++) {
  await Promise.all(Array.from({ length: Number(size) }, ask));
  // A connection becomes idle a moment after its response.
  await Bun.sleep(100);
}
