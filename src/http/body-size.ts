/** 30 MiB pass, one byte more does not. */
export const BODY_BYTES_MAX = 30 * 1024 * 1024;
