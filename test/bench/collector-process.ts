// Takes every export over OTLP and answers at once. Sends `{ port }` once it listens.
const { port } = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    await request.arrayBuffer();
    return new Response("");
  },
});

process.send?.({ port });
process.once("disconnect", () => process.exit());

export {};
