// Opens a new database at each full interval of the clock, in a folder where another process opens it too.
import { join } from "node:path";
import { openDatabase } from "../../src/db/sqlite/database.ts";

const [folder = "", files = "0"] = process.argv.slice(2);
const TICK_MS = 20;

for (let opened = 0; opened < Number(files); opened += 1) {
  const tick = Math.floor(Date.now() / TICK_MS) + 1;
  // Busy waiting, so that both processes open at the same moment.
  while (Date.now() < tick * TICK_MS);
  openDatabase(join(folder, `${tick}.db`)).close();
}
