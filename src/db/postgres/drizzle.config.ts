import { defineConfig } from "drizzle-kit";

export default defineConfig({
  dialect: "postgresql",
  schema: [
    "./src/db/postgres/schema.ts",
    "./src/db/postgres/people-schema.ts",
    "./src/db/postgres/console-schema.ts",
    "./src/db/postgres/usage-schema.ts",
    "./src/db/postgres/export-schema.ts",
  ],
  out: "./src/db/postgres/migrations",
});
