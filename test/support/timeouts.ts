/**
 * Time limit of a test or a hook, in milliseconds. Ends a test that hangs, even on a busy machine. Tests that
 * measure time run alone and have limits of their own.
 */
export const TEST_MS = 300_000;
