// Loaded into the gateway before its own code: memory that nobody uses is given back when the test asks.
process.on("SIGUSR2", () => Bun.gc(true));
