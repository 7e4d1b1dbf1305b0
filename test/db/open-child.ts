// Opens a new database at every tick of the clock, in a folder where another process does the same.
import { join } from "node:path";
import { openDatabase } from "../../src/db/sqlite/database.ts";

const [folder = "", files = "0"] = process.argv.slice(2);
const TICK_MS = 20;

for (let opened = 0; opened < Number(files); opened += 1) {
  const tick = Math.floor(Date.now() / TICK_MS) + 1;
  // Waits without a pause: both must come at the same moment.
  while (Date.now() < tick * TICK_MS);
  openDatabase(join(folder, `${tick}.db`)).close();
}
