// The fastest minimal forward proxy on Bun: the baseline of the gateway.
const upstream = process.argv[2] ?? "";

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 0,
  async fetch(request) {
    const { method, headers, signal } = request;
    // Forwarding `request.body` as a stream takes twice as long as reading it first.
    const body = await request.arrayBuffer();
    return fetch(upstream + new URL(request.url).pathname, { method, headers, body, signal });
  },
});

process.send?.({ port: server.port });
process.once("disconnect", () => process.exit());
