import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { createMetrics } from "../../src/telemetry/metrics.ts";
import { MetricsListenError, type MetricsServer, serveMetrics } from "../../src/telemetry/serve-metrics.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { readSamples } from "./samples.ts";

const LOOPBACK = { host: "127.0.0.1", port: 0 };
const log = createCapturedLog();
const metrics = createMetrics();

describe("a gateway's metrics", () => {
  let server: MetricsServer;

  beforeEach(() => {
    server = serveMetrics({ metrics, listen: LOOPBACK, log });
  });

  afterEach(() => server.stop());

  test("are served without a key, as Prometheus requests them", async () => {
    metrics.limiter.peerGateways(2);
    const response = await fetch(`http://${server.address}/metrics?name=x`);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(readSamples(await response.text()).get("tollgate_limiter_gateways")).toBe(2);
  });

  test.each([
    ["GET", "/"],
    ["GET", "/metrics/"],
    ["GET", "/metricsx"],
    ["GET", "/v1/models"],
    ["POST", "/metrics"],
    ["DELETE", "/metrics"],
  ])("are all that is there: %s %s is answered 404", async (method, path) => {
    const response = await fetch(`http://${server.address}${path}`, { method });
    expect([response.status, await response.text()]).toEqual([404, "not found\n"]);
  });

  test("cannot be served on a port that is in use", () => {
    const listen = { ...LOOPBACK, port: Number(server.address.split(":")[1]) };
    expect(() => serveMetrics({ metrics, listen, log })).toThrow(MetricsListenError);
    expect(() => serveMetrics({ metrics, listen, log })).toThrow(
      `Cannot serve the metrics at ${server.address}`,
    );
  });

  test("are not served after stop(), even on a kept-alive connection", async () => {
    const port = Number(server.address.split(":")[1]);
    const kept = connect(port, "127.0.0.1");
    const ended = new Promise<void>((resolve) => void kept.once("close", () => resolve()));
    kept.on("error", () => undefined);
    kept.write("GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n");
    await new Promise((resolve) => kept.once("data", resolve));
    await server.stop();
    await ended;
    await expect(fetch(`http://${server.address}/metrics`)).rejects.toThrow();
    server = serveMetrics({ metrics, listen: { ...LOOPBACK, port }, log });
    expect((await fetch(`http://${server.address}/metrics`)).status).toBe(200);
  });
});

test("an IPv6 address is printed in brackets", async () => {
  const server = serveMetrics({ metrics, listen: { host: "::1", port: 0 }, log });
  expect(server.address).toMatch(/^\[::1\]:\d+$/);
  expect((await fetch(`http://${server.address}/metrics`)).status).toBe(200);
  await server.stop();
});

test("a fault while reading metrics is answered 500 and logged, without its message", async () => {
  const print = () => Promise.reject(new TypeError("something private"));
  const server = serveMetrics({ metrics: { ...metrics, print }, listen: LOOPBACK, log });
  const response = await fetch(`http://${server.address}/metrics`);
  expect([response.status, await response.text()]).toEqual([500, "internal error\n"]);
  expect(log.text()).toContain('"fault":"TypeError"');
  expect(log.text()).not.toContain("private");
  await server.stop();
});
