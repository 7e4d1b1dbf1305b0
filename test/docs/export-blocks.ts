import { readPage } from "./pages.ts";

const EXPORT = readPage("docs/export.md");

/** The blocks of the export page that tests run. */
export const EXPORT_YAML = EXPORT.snippet("exports:");
export const EXPORTED_LINE = EXPORT.snippet('"schema_version"');
export const VERIFY_EXPORT = EXPORT.snippet("function isGenuine");
