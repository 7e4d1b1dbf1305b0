throw new Error("never ready, on purpose");
