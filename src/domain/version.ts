/** The version of this program, as in package.json. */
export const VERSION = "0.1.0";

/** Set when an executable is built. */
declare const TOLLGATE_COMMIT: string | undefined;

/** The commit that this executable was built from; `undefined` when the sources run. */
export const COMMIT = typeof TOLLGATE_COMMIT === "string" ? TOLLGATE_COMMIT : undefined;
