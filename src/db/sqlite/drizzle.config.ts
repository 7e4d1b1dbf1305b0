import { defineConfig } from "drizzle-kit";

export default defineConfig({
  dialect: "sqlite",
  schema: [
    "./src/db/sqlite/schema.ts",
    "./src/db/sqlite/people-schema.ts",
    "./src/db/sqlite/console-schema.ts",
    "./src/db/sqlite/usage-schema.ts",
    "./src/db/sqlite/export-schema.ts",
  ],
  out: "./src/db/sqlite/migrations",
});
