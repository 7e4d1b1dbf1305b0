// Opens the database of its argument, migrates it, and ends.
import { openPostgres } from "../../src/db/postgres/database.ts";

const { close } = await openPostgres(Bun.argv[2] ?? "");
await close();
process.exit();
