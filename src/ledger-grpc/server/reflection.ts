import { readFileSync } from "node:fs";
import type { PackageDefinition } from "@grpc/proto-loader";
import { ReflectionService } from "@grpc/reflection";
import { programFile } from "../../program-files.ts";
import { LEDGER_SERVICE } from "../service.ts";

/** The wire tag of `FileDescriptorSet.file`. */
const FILE_TAG = 0x0a;

/**
 * Creates the reflection service, v1 and v1alpha. It serves the descriptors that the compiler wrote. Those of
 * the proto loader have other field names, which clients in other languages cannot read.
 *
 * @see https://github.com/grpc/grpc/blob/master/doc/server-reflection.md
 */
export function createReflection(): ReflectionService {
  const set = readFileSync(programFile("src/gen/ledger.binpb"));
  // Safe because reflection reads only the descriptors of a definition.
  const definition = {
    descriptors: { fileDescriptorProtos: splitFiles(set) },
  } as unknown as PackageDefinition;
  return new ReflectionService(definition, { services: [LEDGER_SERVICE] });
}

/** Splits a `FileDescriptorSet` into its files; it has no other field. */
function splitFiles(set: Buffer): readonly Buffer[] {
  const files: Buffer[] = [];
  for (let at = 0; at < set.length; ) {
    if (set[at] !== FILE_TAG) throw new Error("src/gen/ledger.binpb is not a FileDescriptorSet");
    const { value, end } = readVarint(set, at + 1);
    files.push(set.subarray(end, end + value));
    at = end + value;
  }
  return files;
}

function readVarint(bytes: Buffer, start: number): { readonly value: number; readonly end: number } {
  let value = 0;
  let end = start;
  for (let shift = 0; ; shift += 7) {
    const byte = bytes.readUInt8(end);
    value += (byte & 0x7f) * 2 ** shift;
    end += 1;
    if (byte < 0x80) return { value, end };
  }
}
