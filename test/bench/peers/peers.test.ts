import { expect, test } from "bun:test";
import { PEERS, type Place } from "./peers.ts";

const PLACE: Place = { folder: "/installed", port: 4000, upstreamUrl: "http://127.0.0.1:5000" };

function launchOf(wanted: string) {
  const peer = PEERS.find(({ name }) => name === wanted);
  if (!peer) throw new Error(`There is no peer ${wanted}`);
  return { model: peer.model, ...peer.plan(PLACE) };
}

test("requests to Portkey name the upstream in headers", () => {
  const { command, targetOf } = launchOf("Portkey on Node");
  expect(command[0]).toBe("node");
  expect(command).toContain("--port=4000");
  expect(targetOf("")).toMatchObject({
    url: "http://127.0.0.1:4000",
    headers: { "x-portkey-custom-host": "http://127.0.0.1:5000/v1" },
  });
});

test("the configuration of LiteLLM routes the model of requests to the upstream", () => {
  const { model, files } = launchOf("LiteLLM");
  expect(JSON.parse(files["config.yaml"] ?? "")).toEqual({
    model_list: [
      {
        model_name: model,
        litellm_params: { model: `openai/${model}`, api_base: "http://127.0.0.1:5000/v1", api_key: "bench" },
      },
    ],
  });
});

test("the configuration of TensorZero routes the model of requests to the upstream, without observability", () => {
  const { model, files } = launchOf("TensorZero");
  const [, name = ""] = /^tensorzero::model_name::(.+)$/.exec(model) ?? [];
  expect(Bun.TOML.parse(files["tensorzero.toml"] ?? "")).toMatchObject({
    gateway: { observability: { enabled: false } },
    models: { [name]: { providers: { bench: { type: "openai", api_base: "http://127.0.0.1:5000/v1" } } } },
  });
});

test("the address of TensorZero is the one that it prints", () => {
  const { targetOf } = launchOf("TensorZero");
  expect(targetOf("INFO: starting\n")).toBeUndefined();
  expect(targetOf("INFO: started\naddress: http://127.0.0.1:6000/openai/v1/\n")).toMatchObject({
    url: "http://127.0.0.1:6000",
    path: "/openai/v1/chat/completions",
  });
});
