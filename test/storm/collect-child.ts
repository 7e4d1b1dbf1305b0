// Preloaded into the gateway: runs a full garbage collection on SIGUSR2.
process.on("SIGUSR2", () => Bun.gc(true));
