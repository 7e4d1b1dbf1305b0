throw new Error("cannot start, on purpose");
